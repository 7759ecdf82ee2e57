// The client library on Node: what runs anywhere, and configuration files, sockets and credential plugins.

export * from './browser.js'
export { type ConnectOptions, connect, connectTo, findConnection, settingsFor } from './node/connect.js'
export { HttpTransport, type HttpTransportSettings, type TlsSettings } from './node/http-transport.js'
export { inClusterConnection } from './node/in-cluster.js'
export { type ConfigLocation, configFiles, loadConfig, readConfigFile } from './node/load-config.js'
