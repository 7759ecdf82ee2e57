// Options of startServer, the embedding API, and their validation.

import type { IdentityName } from '@cluster-apiserver/api/api/identity.js'
import type { Logger } from '@cluster-apiserver/api/base/logger.js'
import { type OptionNames, refuseUnknownOptions } from '@cluster-apiserver/api/base/unknown-options.js'
import { isRecord } from '@cluster-apiserver/api/schema/json/read.js'

export interface ServerOptions {
  /** Data folder. Default: memory only, nothing is written to disk. */
  readonly dataDir?: string
  /** Stores objects in etcd; `dataDir` or a temporary folder then contains only the local mirror and the certificates. */
  readonly etcd?: EtcdLocation
  /** Default 0: any free port. */
  readonly port?: number
  readonly bindAddress?: string
  readonly identity?: IdentityName
  /** Initial objects, and paths of YAML or JSON files and folders with objects. Dependencies are applied first. */
  readonly objects?: readonly FirstObject[]
  /** Captured cluster to begin with, in memory only: a folder or file of YAML or JSON, an etcd snapshot, or a backup of this server. */
  readonly from?: string
  /** Additional flags, such as `['--event-ttl=10m']`. */
  readonly flags?: readonly string[]
  /** Simulated nodes, which run pods without machines: their number or their templates. Turns on the controllers of workloads. */
  readonly nodes?: number | readonly SimulatedNodeTemplate[]
  /** Only 1: worker processes need the command `cluster-apiserver`. */
  readonly workers?: number
  /** Receives log lines, such as `console`. Default: none. */
  readonly logger?: Logger
  /** Serves the HTTP control API of the test kit under `/testkit/`, for clients in other languages. */
  readonly testkit?: boolean
  /** Aborts a start that waits for an unreachable etcd. */
  readonly signal?: AbortSignal
}

/** Simulated nodes of one kind, called `<name>-1`, `<name>-2` and so on. */
export interface SimulatedNodeTemplate {
  /** Default: `node`. */
  readonly name?: string
  /** Default: 1. */
  readonly count?: number
  /** Quantities such as `{ cpu: '4', memory: '16Gi', pods: '110' }`; default: 8 CPUs, 32Gi, 110 pods, 100Gi of ephemeral storage. */
  readonly capacity?: { readonly [resource: string]: string | number }
  readonly labels?: { readonly [name: string]: string }
  readonly annotations?: { readonly [name: string]: string }
  /** Zones of the nodes in turn. */
  readonly zones?: readonly string[]
  readonly taints?: readonly { readonly key: string; readonly value?: string; readonly effect: string }[]
}

export interface EtcdLocation {
  /** Endpoints such as `https://10.0.0.1:2379`, or with a user `https://name:password@10.0.0.1:2379`. */
  readonly servers: readonly string[]
  /** Prefix of all keys. Default: `/registry`. */
  readonly prefix?: string
  /** PEM files. */
  readonly caFile?: string
  readonly certFile?: string
  readonly keyFile?: string
}

export type FirstObject = string | ObjectValue

/** An object as a client sends it. A list, such as a `v1` `List`, stands for its items. */
export interface ObjectValue {
  readonly apiVersion: string
  readonly kind: string
  readonly [member: string]: unknown
}

/** Type check and expected type of each option. */
const checks: { readonly [name in keyof Required<ServerOptions>]: readonly [isValid: (value: unknown) => boolean, expected: string] } = {
  dataDir: [isText, 'a path'],
  etcd: [isRecord, 'an object with "servers"'],
  port: [(value) => Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 65_535, 'a port, or 0 for any free one'],
  bindAddress: [isText, 'an IP address'],
  identity: [(value) => value === 'cluster' || value === 'kubernetes', '"cluster" or "kubernetes"'],
  objects: [Array.isArray, 'a list of objects and paths'],
  from: [isText, 'the path of a captured cluster'],
  flags: [(value) => Array.isArray(value) && value.every(isText), 'a list of texts such as "--event-ttl=10m"'],
  nodes: [(value) => (Number.isInteger(value) && (value as number) >= 0) || Array.isArray(value), 'a number or a list of templates'],
  workers: [(value) => value === 1, '1: only the command cluster-apiserver can start worker processes (--workers)'],
  logger: [isLogger, 'an object with the functions debug, info, warn and error'],
  testkit: [(value) => typeof value === 'boolean', 'true or false'],
  signal: [(value) => value instanceof AbortSignal || (isRecord(value) && 'aborted' in value), 'an AbortSignal'],
}

const etcdMembers: OptionNames<EtcdLocation> = { servers: true, prefix: true, caFile: true, certFile: true, keyFile: true }

/** Throws a TypeError for unknown options and wrong types. */
export function checkOptions(options: ServerOptions): void {
  refuseUnknownOptions('startServer', options, checks)
  for (const [name, value] of Object.entries(options)) {
    const [isValid, expected] = checks[name as keyof ServerOptions]
    if (value !== undefined && !isValid(value)) throw new TypeError(`startServer: the option "${name}" must be ${expected}`)
  }
  if (options.from !== undefined && (options.dataDir !== undefined || options.etcd !== undefined))
    throw new TypeError('startServer: the option "from" needs a server in memory, without "dataDir" and "etcd"')
  if (options.etcd === undefined) return
  refuseUnknownOptions('startServer: etcd', options.etcd, etcdMembers)
  if (!Array.isArray(options.etcd.servers) || !options.etcd.servers.every(isText))
    throw new TypeError('startServer: the option "etcd.servers" must be a list of addresses')
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function isLogger(value: unknown): boolean {
  return isRecord(value) && ['debug', 'info', 'warn', 'error'].every((name) => typeof value[name] === 'function')
}
