// Package pluginpb is the protocol between a host and the program of a plugin with
// "protocol": "go-plugin", as generated from plugin.proto. Programs in Go use package
// plugin; the file is for those in other languages.
//
//	stream, err := pluginpb.NewPluginClient(connection).CallTool(ctx)
//	err = stream.Send(&pluginpb.ToPlugin{Message: &pluginpb.ToPlugin_Call{Call: call}})
//	message, err := stream.Recv()
package pluginpb

//go:generate protoc --go_out=. --go_opt=paths=source_relative --go-grpc_out=. --go-grpc_opt=paths=source_relative plugin.proto
