// The interface of a running server: for the command line, and for programs that embed the server.

import type { TypedClient } from '@cluster-apiserver/client/typed/typed-client.js'
import type { Faults } from './testkit/faults/fault-rules.js'
import type { InspectedServer } from './testkit/inspection/inspection.js'
import type { ServerClock } from './testkit/movable-clock.js'
import type { SimulatedNodes } from './testkit/simulated-nodes.js'
import type { Snapshot } from './testkit/snapshot.js'
import type { ReviewFunction } from './testkit/webhooks/review-functions.js'
import type { TestWebhook } from './testkit/webhooks/test-webhook.js'
import type { WebhookKind, WebhookSpec } from './testkit/webhooks/webhook-spec.js'

export interface RunningServer {
  /** Bind address of the port. */
  readonly address: string
  readonly port: number
  /** URL for clients on this machine, such as `https://127.0.0.1:6443`. */
  readonly url: string
  readonly caPem: string
  /** Kubeconfig of the administrator, as YAML text. */
  readonly clientConfiguration: string
  /** Path of that kubeconfig; undefined without a data folder. */
  readonly clientConfigurationPath: string | undefined
  /** Graceful shutdown: readiness fails, requests end, the storage is closed. `immediately` ends open requests. */
  close(options?: { readonly immediately?: boolean }): Promise<void>
}

/** Credentials and client of one user. */
export interface Access {
  readonly user: string
  readonly groups: readonly string[]
  readonly token: string
  /** Kubeconfig, as YAML text. */
  readonly clientConfiguration: string
  /** Created on first use, and closed with the server. */
  readonly client: TypedClient
}

/** A server that runs inside the caller's process. */
export interface EmbeddedServer extends RunningServer, Access, InspectedServer {
  /** Credentials of another user, with the permissions that RBAC grants; the group `system:masters` has all permissions. */
  as(user: string, groups?: readonly string[]): Access
  /**
   * Restores all objects to their state when `startServer` resolved. Watches receive the changes; revisions increase. Only for servers in
   * memory.
   */
  reset(): Promise<void>
  /** URL and token of the HTTP control API; undefined without the option `testkit`. */
  readonly testkit: { readonly url: string; readonly token: string } | undefined
  /** The time of the server, which tests move. */
  readonly clock: ServerClock
  /** The objects at this moment, with their history. Copies nothing: the server and the snapshot share what does not change. */
  snapshot(): Snapshot
  /**
   * Restores all objects to a snapshot of this server, of one of its forks or of the server it was forked from. Watches receive the
   * changes; revisions increase. Only for servers in memory.
   */
  restore(snapshot: Snapshot): Promise<void>
  /**
   * Starts an independent server with the same objects, resource versions, history, users, tokens, certificates and settings, on its own
   * port. Only for servers in memory.
   */
  fork(): Promise<EmbeddedServer>
  /** Compacts the history: resource versions of watches and continue tokens from before get 410. */
  compact(): Promise<void>
  /** Faults on command: errors, latency, cut connections and watches, expired tokens, unavailable webhooks, a full disk. */
  readonly faults: Faults
  /** Simulated nodes: add, drain, fail, heal and remove them. Needs the option `nodes`. */
  readonly nodes: SimulatedNodes
  /** Serves a webhook with a function, over HTTPS, and registers it; resolves when the next request is reviewed. */
  webhook<Kind extends WebhookKind>(
    spec: { readonly kind: Kind } & WebhookSpec<Kind>,
    answer: ReviewFunction<Kind>,
  ): Promise<TestWebhook<Kind>>
  [Symbol.asyncDispose](): Promise<void>
}
