// Opens the HTTPS port with its certificates. A graceful shutdown closes the port first and waits for open requests.

import { isProbeUrl } from '../flow-control/request.js'
import { failure } from '../http/responses/status.js'
import { methodNotAllowed } from '../http/rest/target.js'
import type { RequestListener } from '../net/listen/http-messages.js'
import { type ListenOptions, listen } from '../net/listen/listen.js'
import type { ObjectStore } from '../objects/object-store.js'
import type { ClientTrust } from './certificates/client-ca.js'
import type { ReloadableCertificate } from './certificates/serving-certificate.js'
import type { ServerState } from './create-listener.js'
import type { OpenPort } from './processes/open-workers-port.js'
import { sniCertificates } from './serving-options.js'
import type { StartContext } from './start-context.js'

const drainMs = 10_000
/** For the whole machine; worker processes divide it among themselves. */
const maxConnections = 10_000
const minConnections = 1_000

const connectionsOf = (workers: number) => {
  const share = Math.max(minConnections, Math.ceil(maxConnections / workers))
  return { maxConnections: share, maxConnectionsPerAddress: share }
}

interface PortParts {
  readonly listener: RequestListener
  readonly certificate: ReloadableCertificate
  readonly trust: ClientTrust
  readonly store: ObjectStore
  readonly state: ServerState
}

export async function openPort(
  { settings, logger, cleanup, parent, role }: StartContext,
  { listener, certificate, trust, store, state }: PortParts,
): Promise<OpenPort> {
  const { tls, limits, timeouts, serving } = settings
  // SNI certificates need the CA as well: each has its own TLS context.
  const clientCaOption: Pick<ListenOptions, 'clientCa'> = { clientCa: trust.pem }
  const sniCertificateSet = sniCertificates(serving, { logger, ...clientCaOption })
  cleanup.add(() => sniCertificateSet?.close())
  const port = await listen(
    {
      host: settings.bindAddress,
      port: parent === undefined ? settings.securePort : 0,
      certificate,
      handshakes: serving.sharesPort || sniCertificateSet !== undefined ? undefined : parent?.handshakes,
      ...clientCaOption,
      logger,
      isUrgent: isProbeUrl,
      unknownMethod: { contentType: 'application/json', body: `${JSON.stringify(failure(methodNotAllowed()))}\n` },
      onHandshakeError: () => {
        state.handshakeErrors++
      },
      minVersion: tls.minVersion,
      ...(sniCertificateSet === undefined ? {} : { namedCertificate: (name: string) => sniCertificateSet.find(name) }),
      sharesPort: serving.sharesPort,
      source: role?.kind === 'worker' ? role.connections : undefined,
      ...(tls.ciphers === undefined ? {} : { ciphers: tls.ciphers }),
      limits: {
        http2Streams: limits.http2Streams,
        goawayChance: limits.goawayChance,
        requestMs: timeouts.requestMs,
        ...(role === undefined ? {} : connectionsOf(settings.workers)),
      },
    },
    listener,
  )
  certificate.onChange((pair) => port.setCertificate(pair))
  trust.onChange(() => {
    port.setClientCa(trust.pem)
    sniCertificateSet?.setClientCa(trust.pem)
  })
  let graceMs = drainMs
  let isDraining = false
  cleanup.add(() => {
    store.endWatches()
    isDraining = true
    return port.close({ graceMs })
  })
  return {
    address: port.address,
    port: port.port,
    handshakes: port.handshakes,
    closeAtOnce: () => {
      graceMs = 0
      if (isDraining) void port.close()
    },
  }
}
