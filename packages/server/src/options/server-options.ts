// What a program that embeds the server may ask for, and the check that it asked for nothing else.

import type { IdentityName } from '../../api/identity.js'
import { type OptionNames, refuseUnknownOptions } from '../../base/known-options.js'
import type { Logger } from '../../base/logger.js'

export interface ServerOptions {
  /** Where objects are kept; left out: in memory, and nothing is written anywhere. */
  readonly dataDir?: string
  /** Keeps objects in etcd instead; `dataDir` then holds the mirror and the certificates, or a temporary folder does. */
  readonly etcd?: EtcdLocation
  /** 0 or left out: any free port. */
  readonly port?: number
  readonly bindAddress?: string
  readonly identity?: IdentityName
  /** What the server holds to begin with: objects, and paths of files and folders with objects as YAML or JSON. Applied in the order that works. */
  readonly objects?: readonly FirstObject[]
  /** Further flags of the command line, such as `['--event-ttl=10m']`. */
  readonly flags?: readonly string[]
  /** Where the server says what it does; `console` will do. Left out: nowhere. */
  readonly logger?: Logger
  /** Ends a start that waits for an etcd that cannot be reached. */
  readonly signal?: AbortSignal
}

export interface EtcdLocation {
  /** Such as `https://10.0.0.1:2379`, one for each member; a user is named like `https://name:password@10.0.0.1:2379`. */
  readonly servers: readonly string[]
  /** The beginning of every key; left out: `/registry`. */
  readonly prefix?: string
  /** Files in PEM form. */
  readonly caFile?: string
  readonly certFile?: string
  readonly keyFile?: string
}

/** An object, or the path of a file or folder of objects. */
export type FirstObject = string | ObjectValue

/** An object as a client would send it; a list of objects, such as a `v1` `List`, stands for its items. */
export interface ObjectValue {
  readonly apiVersion: string
  readonly kind: string
  readonly [member: string]: unknown
}

/** What each option must be; the compiler asks for every one. */
const checks: { readonly [name in keyof Required<ServerOptions>]: readonly [is: (value: unknown) => boolean, wanted: string] } = {
  dataDir: [isText, 'a path'],
  etcd: [isRecord, 'an object with "servers"'],
  port: [(value) => Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 65_535, 'a port, or 0 for any free one'],
  bindAddress: [isText, 'an IP address'],
  identity: [(value) => value === 'cluster' || value === 'kubernetes', '"cluster" or "kubernetes"'],
  objects: [Array.isArray, 'a list of objects and paths'],
  flags: [(value) => Array.isArray(value) && value.every(isText), 'a list of texts such as "--event-ttl=10m"'],
  logger: [isLogger, 'an object with the functions debug, info, warn and error'],
  signal: [(value) => value instanceof AbortSignal || (isRecord(value) && 'aborted' in value), 'an AbortSignal'],
}

const etcdMembers: OptionNames<EtcdLocation> = { servers: true, prefix: true, caFile: true, certFile: true, keyFile: true }

/** Throws a TypeError with one sentence for what is unknown or of another type. */
export function checkOptions(options: ServerOptions): void {
  refuseUnknownOptions('startServer', options, checks)
  for (const [name, value] of Object.entries(options)) {
    const [is, wanted] = checks[name as keyof ServerOptions]
    if (value !== undefined && !is(value)) throw new TypeError(`startServer: the option "${name}" must be ${wanted}`)
  }
  if (options.etcd === undefined) return
  refuseUnknownOptions('startServer: etcd', options.etcd, etcdMembers)
  if (!Array.isArray(options.etcd.servers) || !options.etcd.servers.every(isText))
    throw new TypeError('startServer: the option "etcd.servers" must be a list of addresses')
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isLogger(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return (['debug', 'info', 'warn', 'error'] as const).every((name) => typeof (value as Record<string, unknown>)[name] === 'function')
}
