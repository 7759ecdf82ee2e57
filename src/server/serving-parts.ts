// What the flags about serving add to the server: filters at the front of the list, certificates by name, the address that is published.

import type { Filter } from '../http/pipeline.js'
import { retryAfterShutdown, strictTransport } from '../http/serving-filters.js'
import { NamedCertificates, type NamedOptions } from '../net/named-certificates.js'
import type { ServingSettings } from './options/settings.js'
import { StartError } from './start-failure.js'

/** In the order in which they run; none where nothing was asked for. */
export async function servingFilters(serving: ServingSettings, isShuttingDown: () => boolean): Promise<readonly Filter[]> {
  const { strictTransport: directives, corsOrigins, sendsRetryAfter } = serving
  return [
    ...(directives === undefined ? [] : [strictTransport(directives)]),
    ...(sendsRetryAfter ? [retryAfterShutdown(isShuttingDown)] : []),
    ...(corsOrigins.length === 0 ? [] : [await crossOriginFilter(corsOrigins)]),
  ]
}

async function crossOriginFilter(patterns: readonly string[]): Promise<Filter> {
  const { crossOrigin } = await import('../http/cross-origin.js')
  try {
    return crossOrigin(patterns)
  } catch (thrown) {
    throw new StartError(`--cors-allowed-origins: ${thrown instanceof Error ? thrown.message : thrown}`)
  }
}

export function namedCertificates({ certificates }: ServingSettings, options: NamedOptions): NamedCertificates | undefined {
  if (certificates.length === 0) return undefined
  try {
    return new NamedCertificates(certificates, options)
  } catch (thrown) {
    throw new StartError(`--tls-sni-cert-key: ${thrown instanceof Error ? thrown.message : thrown}`)
  }
}

/** Host and port under which clients reach the server, as discovery tells it. */
export function publicAddress({ externalHostname }: ServingSettings, url: string): string {
  const { host, port } = new URL(url)
  return externalHostname === undefined ? host : `${externalHostname}:${port || 443}`
}
