// What a started server shows to whoever started it: the command line, or a program that embeds it.

import type { TypedClient } from '../client/typed/typed-client.js'

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

/** How somebody speaks to the server. */
export interface Access {
  readonly user: string
  readonly groups: readonly string[]
  readonly token: string
  /** For clients that read a file. */
  readonly clientConfiguration: string
  /** Made when it is first asked for, and closed with the server. */
  readonly client: TypedClient
}

/** A running server as the program sees that embeds it: with a token for everybody it wants to be, and a way back to the beginning. */
export interface EmbeddedServer extends RunningServer, Access {
  /** Somebody else, who may do what the rules of the server say; members of `system:masters` may do everything. */
  as(user: string, groups?: readonly string[]): Access
  /**
   * Puts all objects back to what they were when `startServer` resolved. Watches see what goes and what changes; revisions go on. Only in
   * memory.
   */
  reset(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}
