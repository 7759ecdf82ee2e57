// The port, with the certificates that it shows; it is closed first, and lets requests that have begun end.

import type { RequestListener } from '../http/handle.js'
import { isProbeUrl } from '../http/priority.js'
import { type Listener, type ListenOptions, listen } from '../net/listen.js'
import type { ObjectStore } from '../objects/object-store.js'
import type { ClientTrust } from './client-trust.js'
import type { ServerState } from './make-listener.js'
import type { Opening } from './opening.js'
import type { ChangingCertificate } from './serving-certificate.js'
import { namedCertificates } from './serving-parts.js'

const drainMs = 10_000

export interface PortParts {
  readonly listener: RequestListener
  readonly certificate: ChangingCertificate
  readonly trust: ClientTrust
  readonly store: ObjectStore
  readonly state: ServerState
}

export interface OpenPort extends Pick<Listener, 'address' | 'port'> {
  /** Requests are cut off, and not waited for, when it closes, or now where it closes already. */
  closeAtOnce(): void
}

export async function openPort(
  { settings, logger, closing }: Opening,
  { listener, certificate, trust, store, state }: PortParts,
): Promise<OpenPort> {
  const { tls, limits, timeouts, serving } = settings
  // For the names, too: each verifies with its own context.
  const clients: Pick<ListenOptions, 'clientCa'> = { clientCa: trust.pem }
  const named = namedCertificates(serving, { logger, ...clients })
  closing.add(() => named?.close())
  const port = await listen(
    {
      host: settings.bindAddress,
      port: settings.securePort,
      certificate,
      ...clients,
      logger,
      isUrgent: isProbeUrl,
      onHandshakeError: () => {
        state.handshakeErrors++
      },
      minVersion: tls.minVersion,
      ...(named === undefined ? {} : { namedCertificate: (name: string) => named.find(name) }),
      sharesPort: serving.sharesPort,
      ...(tls.ciphers === undefined ? {} : { ciphers: tls.ciphers }),
      limits: { http2Streams: limits.http2Streams, goawayChance: limits.goawayChance, requestMs: timeouts.requestMs },
    },
    listener,
  )
  certificate.onChange((pair) => port.setCertificate(pair))
  trust.onChange(() => {
    port.setClientCa(trust.pem)
    named?.setClientCa(trust.pem)
  })
  let graceMs = drainMs
  let isDraining = false
  closing.add(() => {
    store.endWatches()
    isDraining = true
    return port.close({ graceMs })
  })
  return {
    address: port.address,
    port: port.port,
    closeAtOnce: () => {
      graceMs = 0
      if (isDraining) void port.close()
    },
  }
}
