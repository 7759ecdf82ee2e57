// The role of a process of --workers: the primary owns the store and the controllers, the workers serve requests.

import type { LineWriter } from '../../audit/log-backend.js'
import type { Family } from '../../http/metrics/prometheus-exposition.js'
import type { ConnectionSource } from '../../net/listen/connection-source.js'
import type { EmbeddedStorage } from '../../storage/lmdb/lmdb-storage.js'
import type { Storage } from '../../storage/storage.js'

export type ReadFamilies = () => Promise<readonly Family[]>

/** The parts of the primary that workers use. */
export interface PrimaryParts {
  readonly storage: EmbeddedStorage
  readonly auditLog: Pick<LineWriter, 'append'> | undefined
  readonly families: ReadFamilies
}

export interface WorkerStatus {
  /** Such as `worker-1`. */
  readonly name: string
  readonly isHealthy: boolean
  readonly message: string
}

export interface PrimaryRole {
  readonly kind: 'primary'
  /** Starts the workers; resolves when all of them listen. */
  start(parts: PrimaryParts): Promise<{ readonly address: string; readonly port: number }>
  /** Workers fail their readiness and end after their requests. */
  shutDown(options: { readonly immediately: boolean }): void
  /** Resolves when all workers have ended. */
  close(): Promise<void>
}

export interface WorkerRole {
  readonly kind: 'worker'
  /** Connections of the port, which the primary has opened. */
  readonly connections: ConnectionSource
  readonly openStorage: (dataFile: string) => Promise<Storage>
  readonly auditLog: LineWriter
  /** Adds the metrics of the other processes. `own` is called again when another process collects. */
  readonly families: (own: ReadFamilies) => ReadFamilies
  /** Statuses of all workers. Does not resolve while the primary does not respond. */
  readonly statuses: () => Promise<readonly WorkerStatus[]>
}

export type ProcessRole = PrimaryRole | WorkerRole
