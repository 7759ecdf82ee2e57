// What a started server shows to whoever started it: the command line, or a program that embeds it.

import type { Logger } from '../base/logger.js'
import type { Parts } from './embedding/parts.js'
import type { Settings } from './options/settings.js'

export interface RunningServer {
  /** The address that the port is bound to. */
  readonly address: string
  readonly port: number
  /** Where clients on this machine reach it, such as `https://127.0.0.1:6443`. */
  readonly url: string
  readonly caPem: string
  /** A client configuration for the administrator, as YAML text. */
  readonly clientConfiguration: string
  /** Where that text was written; undefined with nothing but memory. */
  readonly clientConfigurationPath: string | undefined
  /** Fails readiness, waits the shutdown delay, stops accepting, lets requests end, closes the storage; `immediately` skips the waiting. */
  close(options?: { readonly immediately?: boolean }): Promise<void>
}

/** A server with what it is made of, for the embedding API. */
export interface AssembledServer extends RunningServer {
  readonly parts: Parts
}

/** `signal` ends a start that waits for something else to come up. */
export type Assemble = (settings: Settings, logger: Logger, signal?: AbortSignal) => Promise<RunningServer>
