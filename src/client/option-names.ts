// The names of all options of the client, to tell those that do not exist from those that do.

import type { OptionNames } from '../base/known-options.js'
import type { BackOffSettings } from './back-off.js'
import type { ClientSettings } from './client.js'
import type { ModifyOptions, TableOptions } from './collection.js'
import type { ExecOptions } from './exec.js'
import type { FetchTransportSettings } from './fetch-transport.js'
import type { FollowOptions } from './follow.js'
import type { Impersonation } from './impersonation.js'
import type { InformerOptions } from './informer.js'
import type { LogOptions } from './pod-collection.js'
import type {
  ApplyOptions,
  DeleteOptions,
  GetOptions,
  ListOptions,
  PatchOptions,
  RequestOptions,
  SelectOptions,
  WriteOptions,
} from './query.js'
import type { ReflectOptions } from './reflect.js'
import type { ApiRequest } from './requester.js'
import type { RawWatchOptions } from './watch-stream.js'

const select: OptionNames<SelectOptions> = { labelSelector: true, fieldSelector: true }
const table: OptionNames<TableOptions> = { include: true }

export const requestNames: OptionNames<RequestOptions> = { signal: true, timeoutMs: true }
export const getNames: OptionNames<GetOptions> = { resourceVersion: true, ...requestNames }
export const tableOfNames: OptionNames<GetOptions & TableOptions> = { ...table, ...getNames }
export const listNames: OptionNames<ListOptions> = {
  ...select,
  limit: true,
  continue: true,
  resourceVersion: true,
  resourceVersionMatch: true,
  ...requestNames,
}
export const tableNames: OptionNames<ListOptions & TableOptions> = { ...table, ...listNames }
export const writeNames: OptionNames<WriteOptions> = { dryRun: true, fieldManager: true, fieldValidation: true, ...requestNames }
export const modifyNames: OptionNames<ModifyOptions> = { conflicts: true, ...writeNames }
export const patchNames: OptionNames<PatchOptions> = { type: true, force: true, ...writeNames }
export const applyNames: OptionNames<ApplyOptions> = { force: true, ...writeNames }
export const deleteNames: OptionNames<DeleteOptions> = {
  dryRun: true,
  gracePeriodSeconds: true,
  propagationPolicy: true,
  preconditions: true,
  ...requestNames,
}
export const preconditionNames: OptionNames<NonNullable<DeleteOptions['preconditions']>> = { uid: true, resourceVersion: true }
export const deleteCollectionNames: OptionNames<DeleteOptions & SelectOptions> = { ...select, ...deleteNames }
export const openWatchNames: OptionNames<RawWatchOptions> = { ...select, resourceVersion: true, timeoutSeconds: true, ...requestNames }
const reflectNames: OptionNames<ReflectOptions> = {
  ...select,
  limit: true,
  onError: true,
  backOff: true,
  timeoutSeconds: true,
  listTimeoutMs: true,
  signal: true,
}
export const watchNames: OptionNames<FollowOptions<unknown>> = { since: true, resourceVersion: true, bookmarks: true, ...reflectNames }
export const informNames: OptionNames<InformerOptions<unknown>> = { indexes: true, transform: true, ...reflectNames }
export const backOffNames: OptionNames<BackOffSettings> = { firstMs: true, mostMs: true }

export const logNames: OptionNames<LogOptions> = {
  container: true,
  follow: true,
  previous: true,
  sinceSeconds: true,
  sinceTime: true,
  tailLines: true,
  limitBytes: true,
  timestamps: true,
  insecure: true,
  ...requestNames,
}
export const execNames: OptionNames<ExecOptions> = { container: true, stdin: true, tty: true, onStdout: true, onStderr: true, signal: true }

export const findNames: OptionNames<RequestOptions & { readonly namespace?: string }> = { namespace: true, ...requestNames }
export const discoveryNames: OptionNames<RequestOptions & { readonly refresh?: boolean }> = { refresh: true, ...requestNames }
export const apiRequestNames: OptionNames<ApiRequest> = {
  method: true,
  path: true,
  query: true,
  accept: true,
  body: true,
  contentType: true,
  ...requestNames,
}

export const impersonationNames: OptionNames<Impersonation> = { user: true, uid: true, groups: true, extra: true }
export const fetchTransportNames: OptionNames<FetchTransportSettings> = { server: true, credentials: true }

/** Of a client, but for the way to the server. */
export const sharedClientNames: OptionNames<Omit<ClientSettings, 'transport' | 'credentials'>> = {
  identity: true,
  namespace: true,
  impersonate: true,
  onWarning: true,
  retries: true,
  userAgent: true,
  timeoutMs: true,
}
export const clientNames: OptionNames<ClientSettings> = { transport: true, credentials: true, ...sharedClientNames }
