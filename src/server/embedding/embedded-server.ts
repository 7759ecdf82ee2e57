// A running server as the program sees that embeds it: with a token for everybody it wants to be, and a way back to the beginning.

import { randomBytes } from 'node:crypto'
import { getOrInsert } from '../../base/get-or-insert.js'
import { renderClientConfiguration } from '../client-configuration.js'
import type { AssembledServer, RunningServer } from '../running-server.js'
import { StartState } from './start-state.js'

/** How somebody speaks to the server. */
export interface Access {
  readonly user: string
  readonly groups: readonly string[]
  readonly token: string
  /** For clients that read a file. */
  readonly clientConfiguration: string
}

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

export function embeddedServer(assembled: AssembledServer, isInMemory: boolean): EmbeddedServer {
  const { parts, ...server } = assembled
  const { engine, credential, url, caPem } = parts
  const others = new Map<string, Access>()
  const state = isInMemory ? new StartState(parts) : undefined
  let resetting: Promise<void> | undefined
  const access = (user: string, groups: readonly string[]): Access => {
    const token = randomBytes(32).toString('base64url')
    const somebody = { name: user, uid: '', groups, extra: {} }
    engine.access.addToken?.(token, somebody)
    const clientConfiguration = renderClientConfiguration({ identity: engine.identity, url, caPem, credential: { token, user: somebody } })
    return { user, groups, token, clientConfiguration }
  }
  return {
    ...server,
    user: credential.user.name,
    groups: credential.user.groups,
    token: credential.token,
    as: (user, groups = []) => {
      if (user === '') throw new TypeError('as: a user has a name')
      return getOrInsert(others, JSON.stringify([user, groups]), () => access(user, [...groups]))
    },
    reset: async () => {
      if (state === undefined) throw new Error('reset: only a server in memory can be reset; start one without dataDir and etcd')
      resetting ??= state.restore().finally(() => {
        resetting = undefined
      })
      await resetting
    },
    [Symbol.asyncDispose]: () => server.close({ immediately: true }),
  }
}
