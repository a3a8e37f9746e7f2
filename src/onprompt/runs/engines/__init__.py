"""What keeps many questions under way, one file each."""
