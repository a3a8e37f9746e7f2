"""The models that can be asked, one file for each way of reaching them."""
