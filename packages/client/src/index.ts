// Entry point of the client library for Node.js: adds kubeconfig files, HTTP transport and in-cluster configuration.

export * from './browser.js'
export { type ConnectOptions, connect, connectTo, findConnection, settingsFor } from './node/connect.js'
export { HttpTransport, type HttpTransportSettings, type TlsSettings } from './node/http-transport.js'
export { inClusterConnection } from './node/in-cluster.js'
export { type ConfigLocation, configFiles, loadConfig, readConfigFile } from './node/load-kubeconfig.js'
