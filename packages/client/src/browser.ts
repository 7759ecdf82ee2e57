// The client library as it runs anywhere: with `fetch`, without files and processes.

export type { Identity, IdentityName } from '../api/identity.js'
export { Client, type ClientSettings, type ServerVersion } from './client.js'
export { Collection, type CollectionSettings, type ModifyOptions, type TableOptions } from './collection.js'
export { type ChosenConnection, type ConnectionOverrides, chooseConnection } from './config/choose-connection.js'
export {
  type ClientConfig,
  type ClusterEntry,
  type ContextEntry,
  type ExecEntry,
  emptyConfig,
  readConfigText,
  type UserEntry,
} from './config/config-entries.js'
export { mergeConfigs } from './config/merge-configs.js'
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
  type StatusAnswer,
  StatusError,
  TimeoutError,
} from './errors.js'
export { type ExecOptions, type Exit, type Ran, RemoteCommand } from './exec.js'
export { FetchTransport, type FetchTransportSettings } from './fetch-transport.js'
export type { FollowOptions } from './follow.js'
export type { Impersonation } from './impersonation.js'
export { type ChangeListener, Informer, type InformerOptions } from './informer.js'
export { type Change, type Index, ObjectStore } from './object-store.js'
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
} from './objects.js'
export type { ValueStream } from './one-by-one.js'
export { type LogOptions, PodCollection } from './pod-collection.js'
export { ForwardedPort, PortForward } from './port-forward.js'
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
} from './query.js'
export type { ReflectOptions } from './reflect.js'
export type { ApiRequest, RequesterSettings } from './requester.js'
export { apiVersionOf, type ResourceRef, splitApiVersion } from './resource-ref.js'
export type {
  Credential,
  CredentialSource,
  MessageSocket,
  SocketRequest,
  Transport,
  TransportRequest,
  TransportResponse,
} from './transport.js'
export { makeTypedClient, type TypedClient, type TypedGroups } from './typed/typed-client.js'
export type * from './typed/types.js'
export type { Warning } from './warnings.js'
