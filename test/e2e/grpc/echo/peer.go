package main

import "google.golang.org/grpc/peer"

// What the connection of a call says of the other side.
type peerInfo struct {
	peer.Peer
}

func (p peerInfo) isTLS() bool {
	return p.AuthInfo != nil && p.AuthInfo.AuthType() == "tls"
}
