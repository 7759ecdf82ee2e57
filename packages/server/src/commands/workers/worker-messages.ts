// Messages between the primary and its workers that are rare: start, shutdown, metrics and statuses. Changes and commits have a stream of their own.

import type { WorkerStatus } from '../../assemble/processes/process-role.js'
import type { Family } from '../../http/metrics/prometheus-exposition.js'

/** In the environment of a worker: its number, from 1; no secret. */
export const workerVariable = 'CLUSTER_APISERVER_WORKER'

/** Descriptor of the stream in a worker, after the IPC channel. The stream has no name, so no other process can connect to it. */
export const storageDescriptor = 4
/** Descriptor of the file with the newest revision. */
export const revisionDescriptor = 5

export interface StartMessage {
  readonly type: 'start'
  /** Random; the first frame of the stream repeats it. */
  readonly nonce: string
  /** Version of the primary. The files on disk may have another one after an upgrade. */
  readonly version: string
  /** Process id of the primary. */
  readonly primary: number
  /** True if the worker has inherited the file with the newest revision. */
  readonly hasRevisionFile: boolean
  /** Of the port that the primary has opened. */
  readonly address: string
  readonly port: number
}

export type ToWorker =
  | StartMessage
  /** Comes with a socket. */
  | { readonly type: 'connection'; readonly id: number }
  /** Which connections up to this id have arrived? Those without an `accepted` or `refused` before the reply are lost. */
  | { readonly type: 'confirm'; readonly id: number }
  | { readonly type: 'collect'; readonly id: number }
  | { readonly type: 'collected'; readonly id: number; readonly families: readonly Family[] }
  | { readonly type: 'statuses'; readonly id: number; readonly statuses: readonly WorkerStatus[] }
  | { readonly type: 'stop'; readonly immediately: boolean }

export type ToPrimary =
  | { readonly type: 'hello' }
  | { readonly type: 'ready' }
  /** The worker has the connection, or has ended its port: then another worker gets it. */
  | { readonly type: 'accepted' | 'refused'; readonly id: number }
  | { readonly type: 'confirmed'; readonly id: number }
  /** The worker takes no further connections. */
  | { readonly type: 'closed' }
  /** The start failed; `reason` is for the operator. */
  | { readonly type: 'failed'; readonly reason: string }
  | { readonly type: 'metrics' | 'statuses'; readonly id: number }
  | { readonly type: 'collected'; readonly id: number; readonly families: readonly Family[] }
