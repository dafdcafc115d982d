"""The sign-in provider and its peers: the same users, apps, codes and tokens in the tables of each."""
