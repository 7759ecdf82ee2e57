// Makes of an assembled server what the program sees that embeds it.

import { randomBytes } from 'node:crypto'
import { getOrInsert } from '../../base/get-or-insert.js'
import { refuseUnknownOptions } from '../../base/known-options.js'
import { connect } from '../../client/node/connect.js'
import type { TypedClient } from '../../client/typed/typed-client.js'
import { type AdminCredential, clientConfigOf, renderClientConfiguration } from '../client-configuration.js'
import type { Access, EmbeddedServer, RunningServer } from '../running-server.js'
import type { AssembledServer } from './parts.js'
import { StartState } from './start-state.js'

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
    const credential = { token, user: somebody }
    const clientConfiguration = renderClientConfiguration({ identity: engine.identity, url, caPem, credential })
    return withClient({ user, groups, token, clientConfiguration }, credential)
  }
  const clients: TypedClient[] = []
  const withClient = <T extends object>(whom: T, credential: AdminCredential): T & Pick<Access, 'client'> => {
    let client: TypedClient | undefined
    const make = (): TypedClient => {
      const config = clientConfigOf({ identity: engine.identity, url, caPem, credential })
      client = connect({ config, identity: engine.identity.name, environment: {} })
      clients.push(client)
      return client
    }
    return Object.defineProperty(whom, 'client', { get: () => client ?? make(), enumerable: true }) as T & Pick<Access, 'client'>
  }
  const close: RunningServer['close'] = async (options = {}) => {
    refuseUnknownOptions('close', options, { immediately: true })
    for (const client of clients.splice(0)) client.close()
    await server.close(options)
  }
  const embedded: Omit<EmbeddedServer, 'client'> = {
    ...server,
    close,
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
    [Symbol.asyncDispose]: () => close({ immediately: true }),
  }
  return withClient(embedded, credential)
}
