// The port of the primary: its worker processes listen, and close first at shutdown.

import type { Listener } from '../../net/listen/listen.js'
import type { StartContext } from '../start-context.js'
import type { PrimaryParts, PrimaryRole } from './process-role.js'

export interface OpenPort extends Pick<Listener, 'address' | 'port'> {
  /** Undefined in the primary of worker processes, which opens no port. */
  readonly handshakes: Listener['handshakes'] | undefined
  /** Worker processes fail their readiness, too. */
  beginShutdown?(): void
  /** Ends open requests. */
  closeAtOnce(): void
}

export function openWorkersPort({ cleanup }: StartContext, role: PrimaryRole, parts: PrimaryParts): () => Promise<OpenPort> {
  return async () => {
    const { address, port } = await role.start(parts)
    cleanup.add(() => role.close())
    return {
      address,
      port,
      handshakes: undefined,
      beginShutdown: () => role.shutDown({ immediately: false }),
      closeAtOnce: () => role.shutDown({ immediately: true }),
    }
  }
}
