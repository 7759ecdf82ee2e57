// Requests of this server itself to extension API servers, with its proxy client certificate and its own user in the X-Remote-* headers.

import type { RemoteTarget, ServiceAddress } from '@cluster-apiserver/api/api/catalog/api-services.js'
import { mastersGroup } from '@cluster-apiserver/api/api/user.js'
import { errorMessage } from '@cluster-apiserver/api/base/error-message.js'
import { getDocument, type ReceivedDocument, readLines } from '../../net/outbound/http-client.js'
import type { Dial } from '../../net/outbound/http-connect-tunnel.js'
import type { ServiceFinder } from './find-service.js'

export interface ClientPair {
  /** PEM. */
  readonly cert: string
  readonly key: string
}

export interface ExtensionClient {
  readonly request: (target: RemoteTarget, request: ExtensionRequest) => Promise<ReceivedDocument>
  /** Checks availability without verifying the certificate; returns the URL and status. */
  readonly probe: (target: RemoteTarget, path: string, signal: AbortSignal) => Promise<ProbeResult>
  readonly streamLines: (target: RemoteTarget, request: LineStreamRequest) => AsyncIterable<Buffer>
}

interface LineStreamRequest {
  readonly path: string
  readonly accept: string
  /** Timeout for the response header. */
  readonly headMs: number
  /** Timeout between two lines. */
  readonly idleMs: number
  readonly maxLineBytes: number
  readonly signal: AbortSignal
}

export interface ExtensionRequest {
  /** Default: GET. */
  readonly method?: string
  readonly path: string
  readonly accept: string
  readonly body?: string
  readonly contentType?: string
  /** ETag of the cached document, for If-None-Match. */
  readonly etag?: string
  readonly timeoutMs: number
  readonly maxBytes: number
  readonly signal?: AbortSignal
}

interface ProbeResult {
  readonly url: string
  readonly status: number
}

interface ExtensionClientOptions {
  readonly finder: ServiceFinder
  readonly clientPair: () => ClientPair | undefined
  readonly user: string
  /** Default: a direct connection. */
  readonly dial?: Dial | undefined
}

const probeTimeoutMs = 5000

const serverNameOf = ({ name, namespace }: ServiceAddress): string => `${name}.${namespace}.svc`

export function createExtensionClient({ finder, clientPair, user, dial }: ExtensionClientOptions): ExtensionClient {
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
    request: async (target, { path, accept, etag = '', contentType = '', ...limits }) =>
      getDocument({
        ...serverOf(target, path),
        headers: {
          ...identity,
          Accept: accept,
          ...(etag === '' ? {} : { 'If-None-Match': etag }),
          ...(contentType === '' ? {} : { 'Content-Type': contentType }),
        },
        ...limits,
      }),
    streamLines: (target, { path, accept, ...limits }) =>
      readLines({ ...serverOf(target, path), headers: { ...identity, Accept: accept }, ...limits }),
    probe: async ({ service }, path, signal) => {
      const url = `https://${finder.locate(service)}${path}`
      try {
        const request = { url, ...clientPair(), insecure: true, serverName: serverNameOf(service), headers: identity, dial }
        const { status } = await getDocument({ ...request, timeoutMs: probeTimeoutMs, maxBytes: 0, signal })
        return { url, status }
      } catch (thrown) {
        throw new Error(`failing or missing response from ${url}: ${errorMessage(thrown)}`)
      }
    },
  }
}
