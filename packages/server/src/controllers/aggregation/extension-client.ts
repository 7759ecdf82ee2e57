// Questions of this server itself to the servers behind API services: with the certificate of its proxy, and in its own name.

import type { RemoteTarget, ServiceAddress } from '../../api/api-services.js'
import { mastersGroup } from '../../api/user.js'
import { getDocument, type ReceivedDocument } from '../../net/get-document.js'
import { getLines } from '../../net/get-lines.js'
import type { Dial } from '../../net/tunnel.js'
import type { ServiceFinder } from './find-service.js'

export interface ClientPair {
  /** PEM. */
  readonly cert: string
  readonly key: string
}

export interface ExtensionAsker {
  /** The document at a path of the server behind a target. */
  readonly ask: (target: RemoteTarget, question: Question) => Promise<ReceivedDocument>
  /** The same for any certificate that it shows: nothing but whether it answers is taken from it. Names the address that was asked. */
  readonly probe: (target: RemoteTarget, path: string, signal: AbortSignal) => Promise<Probed>
  /** The lines of an answer that does not end. */
  readonly follow: (target: RemoteTarget, question: Following) => AsyncIterable<Buffer>
}

export interface Following {
  readonly path: string
  readonly accept: string
  /** Until the answer begins, and between two lines. */
  readonly headMs: number
  readonly idleMs: number
  readonly mostLineBytes: number
  readonly signal: AbortSignal
}

export interface Question {
  /** GET if left out. */
  readonly method?: string
  readonly path: string
  readonly accept: string
  /** What is sent with it, and of which type that is. */
  readonly body?: string
  readonly contentType?: string
  /** Of what is known already; empty: nothing is. */
  readonly tag?: string
  readonly timeoutMs: number
  readonly mostBytes: number
  readonly signal?: AbortSignal
}

export interface Probed {
  readonly url: string
  readonly status: number
}

export interface AskerParts {
  readonly finder: ServiceFinder
  /** What is shown now; undefined: nothing. */
  readonly clientPair: () => ClientPair | undefined
  /** Who asks. */
  readonly user: string
  /** The way to them; left out: directly. */
  readonly dial?: Dial | undefined
}

const probeMs = 5000

export const serverNameOf = ({ name, namespace }: ServiceAddress): string => `${name}.${namespace}.svc`

export function extensionAsker({ finder, clientPair, user, dial }: AskerParts): ExtensionAsker {
  const identity = { 'X-Remote-User': user, 'X-Remote-Group': mastersGroup }
  const serverOf = ({ service, ca, isInsecure }: RemoteTarget, path: string) => ({
    url: `https://${finder.locate(service)}${path}`,
    ...clientPair(),
    ...(ca === '' ? {} : { ca }),
    insecure: isInsecure,
    serverName: serverNameOf(service),
    dial,
  })
  return {
    ask: async (target, { path, accept, tag = '', contentType = '', ...limits }) =>
      getDocument({
        ...serverOf(target, path),
        headers: {
          ...identity,
          Accept: accept,
          ...(tag === '' ? {} : { 'If-None-Match': tag }),
          ...(contentType === '' ? {} : { 'Content-Type': contentType }),
        },
        ...limits,
      }),
    follow: (target, { path, accept, ...limits }) =>
      getLines({ ...serverOf(target, path), headers: { ...identity, Accept: accept }, ...limits }),
    probe: async ({ service }, path, signal) => {
      const url = `https://${finder.locate(service)}${path}`
      try {
        const request = { url, ...clientPair(), insecure: true, serverName: serverNameOf(service), headers: identity, dial }
        const { status } = await getDocument({ ...request, timeoutMs: probeMs, mostBytes: 0, signal })
        return { url, status }
      } catch (thrown) {
        throw new Error(`failing or missing response from ${url}: ${thrown instanceof Error ? thrown.message : String(thrown)}`)
      }
    },
  }
}
