// The flags about how the server is reached and what it tells browsers, as settings.

import { resolve } from 'node:path'
import { flagError } from './flag.js'
import { type SettingsInput, under } from './read-settings.js'
import type { NamedCertificateFiles, ServingSettings } from './settings.js'

export function readServing({ values }: SettingsInput): ServingSettings {
  const certDir = values['cert-dir']
  return {
    certificates: values['tls-sni-cert-key'].map((text) => under('tls-sni-cert-key', () => parseNamedCertificate(text))),
    certDir: certDir === undefined ? undefined : resolve(certDir),
    externalHostname: readHostname(values['external-hostname']),
    corsOrigins: values['cors-allowed-origins'],
    strictTransport: readDirectives(values['strict-transport-security-directives']),
    sharesPort: readPortSharing(values['permit-port-sharing']),
    sendsRetryAfter: values['shutdown-send-retry-after'],
  }
}

/** `cert,key` or `cert,key:name,name`. */
function parseNamedCertificate(text: string): NamedCertificateFiles {
  const colon = text.indexOf(':')
  const [certFile = '', keyFile = '', ...more] = (colon < 0 ? text : text.slice(0, colon)).split(',')
  if (certFile === '' || keyFile === '' || more.length > 0)
    throw new Error(`${JSON.stringify(text)} is not written cert,key or cert,key:name,name`)
  const names = colon < 0 ? [] : text.slice(colon + 1).split(',')
  const bad = names.find((name) => !/^(\*\.)?[a-z0-9-]+(\.[a-z0-9-]+)*$/i.test(name))
  if (bad !== undefined) throw new Error(`${JSON.stringify(bad)} is neither a host name nor a pattern such as *.example.com`)
  return { files: { certFile: resolve(certFile), keyFile: resolve(keyFile) }, names: names.map((name) => name.toLowerCase()) }
}

function readHostname(name: string | undefined): string | undefined {
  if (name === undefined || /^[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63})*$/i.test(name)) return name?.toLowerCase()
  throw flagError('external-hostname', `${JSON.stringify(name)} is not a host name`)
}

function readDirectives(directives: readonly string[]): string | undefined {
  const bad = directives.find((each) => !/^(max-age=\d+|includeSubDomains|preload)$/.test(each))
  if (bad !== undefined)
    throw flagError(
      'strict-transport-security-directives',
      `${JSON.stringify(bad)} is none of max-age=<seconds>, includeSubDomains, preload`,
    )
  if (directives.length > 0 && !directives.some((each) => each.startsWith('max-age=')))
    throw flagError('strict-transport-security-directives', 'needs max-age=<seconds>, without which browsers ignore the others')
  return directives.length === 0 ? undefined : directives.join('; ')
}

function readPortSharing(isWanted: boolean): boolean {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (isWanted && (major < 23 || (major === 23 && minor < 1)))
    throw flagError('permit-port-sharing', `needs Node.js 23.1 or newer; this is ${process.versions.node}`)
  return isWanted
}
