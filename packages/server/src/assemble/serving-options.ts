// Filters, SNI certificates and the published address that the serving flags configure.

import { fileURLToPath } from 'node:url'
import { errorMessage } from '@cluster-apiserver/api/base/error-message.js'
import { cors } from '../http/filters/cors.js'
import { retryAfterShutdown } from '../http/filters/graceful-shutdown.js'
import { strictTransport } from '../http/filters/strict-transport-security.js'
import type { Filter } from '../http/pipeline/filter.js'
import { SniCertificates, type SniOptions } from '../net/tls/sni-certificates.js'
import { flagError } from '../options/flags/flag.js'
import type { ServingSettings } from '../options/settings.js'

export async function servingFilters(serving: ServingSettings, isShuttingDown: () => boolean): Promise<readonly Filter[]> {
  const { strictTransport: directives, corsOrigins, sendsRetryAfter, console: hasConsole } = serving
  return [
    ...(directives === undefined ? [] : [strictTransport(directives)]),
    ...(sendsRetryAfter ? [retryAfterShutdown(isShuttingDown)] : []),
    ...(corsOrigins.length === 0 ? [] : [corsFilter(corsOrigins)]),
    ...(hasConsole ? [consoleFilter()] : []),
  ]
}

/** The folder is next to the bundle of the server. The first request loads the code and the files. */
function consoleFilter(): Filter {
  let loaded: Promise<Filter> | undefined
  return async (exchange) => {
    const { path } = exchange.info
    if (path !== '/console' && !path.startsWith('/console/')) return false
    loaded ??= import('../http/console/console-files.js').then(({ consoleFiles }) =>
      consoleFiles(fileURLToPath(new URL('../console', import.meta.url))),
    )
    return (await loaded)(exchange)
  }
}

function corsFilter(patterns: readonly string[]): Filter {
  try {
    return cors(patterns)
  } catch (thrown) {
    throw flagError('cors-allowed-origins', errorMessage(thrown))
  }
}

export function sniCertificates({ certificates }: ServingSettings, options: SniOptions): SniCertificates | undefined {
  if (certificates.length === 0) return undefined
  try {
    return new SniCertificates(certificates, options)
  } catch (thrown) {
    throw flagError('tls-sni-cert-key', errorMessage(thrown))
  }
}

/** Host and port that discovery documents publish. */
export function publicAddress({ externalHostname }: ServingSettings, url: string): string {
  const { host, port } = new URL(url)
  return externalHostname === undefined ? host : `${externalHostname}:${port || 443}`
}
