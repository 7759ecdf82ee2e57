// Entry point of the client library for browsers: no imports of Node.js.

export type { Identity, IdentityName } from '@cluster-apiserver/api/api/identity.js'
export { Client, type ClientSettings, type ServerVersion } from './client.js'
export { Collection, type CollectionSettings, type ModifyOptions, type TableOptions } from './collection.js'
export { type ChosenConnection, type ConnectionOverrides, chooseConnection } from './config/choose-connection.js'
export {
  type ClientConfig,
  type ClusterEntry,
  type ContextEntry,
  type ExecEntry,
  emptyConfig,
  mergeConfigs,
  readConfigText,
  type UserEntry,
} from './config/kubeconfig.js'
export { type Discovered, Discovery, type ServedResource, type ServedSubresource } from './discovery.js'
export {
  type ClientError,
  ConfigError,
  ConnectionError,
  CredentialError,
  isAlreadyExists,
  isClientError,
  isConflict,
  isExpired,
  isForbidden,
  isInvalid,
  isNotFound,
  isUnauthorized,
  isVersionTooLarge,
  type Outcome,
  outcomeOf,
  ProtocolError,
  type Reason,
  type StatusBody,
  StatusError,
  TimeoutError,
} from './errors.js'
export type {
  ApiObject,
  BookmarkEvent,
  DynamicObject,
  EventHead,
  ListMeta,
  ObjectEvent,
  ObjectList,
  ObjectMeta,
  PartialObjectMetadata,
  Status,
  Table,
  TableRow,
  WatchEvent,
} from './objects/objects.js'
export type { ValueStream } from './objects/value-stream.js'
export { type ExecOptions, type ExecResult, type Exit, RemoteCommand } from './pods/exec.js'
export { type LogOptions, PodCollection } from './pods/pod-collection.js'
export { ForwardedPort, PortForward } from './pods/port-forward.js'
export type { Impersonation } from './requests/impersonation.js'
export type {
  ApplyOptions,
  DeleteOptions,
  GetOptions,
  ListOptions,
  PatchOptions,
  PatchType,
  PropagationPolicy,
  RequestOptions,
  SelectOptions,
  WriteOptions,
} from './requests/request-options.js'
export type { ApiRequest, RequesterSettings, Warning } from './requests/requester.js'
export { apiVersionOf, type ResourceRef, splitApiVersion } from './requests/resource-ref.js'
export { FetchTransport, type FetchTransportSettings } from './transport/fetch-transport.js'
export type {
  Credential,
  CredentialSource,
  MessageSocket,
  SocketRequest,
  Transport,
  TransportRequest,
  TransportResponse,
} from './transport/transport.js'
export { makeTypedClient, type TypedClient, type TypedGroups } from './typed/typed-client.js'
export type * from './typed/types.js'
export { type ChangeListener, Informer, type InformerOptions } from './watch/informer.js'
export { type Change, type Index, ObjectStore } from './watch/object-store.js'
export type { ReflectOptions } from './watch/reflector.js'
export type { WatchOptions } from './watch/resuming-watch.js'
