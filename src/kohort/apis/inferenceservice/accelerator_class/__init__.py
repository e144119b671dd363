"""AcceleratorClass: which nodes have an accelerator."""
