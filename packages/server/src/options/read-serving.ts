// Settings of serving, service ranges, kubelets and aggregation.

import { isIP } from 'node:net'
import { resolve } from 'node:path'
import { isLoopback } from './advertise-address.js'
import { readPair } from './files/flag-files.js'
import { flagError } from './flags/flag.js'
import type { FlagValues } from './flags/flag-table.js'
import { prefixErrors, type SettingsInput } from './settings-input.js'

export function readServing({ values }: SettingsInput) {
  const certDir = values['cert-dir']
  return {
    certificates: values['tls-sni-cert-key'].map((text) => prefixErrors('tls-sni-cert-key', () => parseNamedCertificate(text))),
    certDir: certDir === undefined ? undefined : resolve(certDir),
    externalHostname: readHostname(values['external-hostname']),
    corsOrigins: values['cors-allowed-origins'],
    strictTransport: readDirectives(values['strict-transport-security-directives']),
    sharesPort: readPortSharing(values['permit-port-sharing']),
    sendsRetryAfter: values['shutdown-send-retry-after'],
    console: values['console'] ?? isLoopback(values['bind-address']),
  }
}

/** Parses `cert,key` or `cert,key:name,name`. */
function parseNamedCertificate(text: string) {
  const colon = text.indexOf(':')
  const [certFile = '', keyFile = '', ...rest] = (colon < 0 ? text : text.slice(0, colon)).split(',')
  if (certFile === '' || keyFile === '' || rest.length > 0)
    throw new Error(`${JSON.stringify(text)} must have the format cert,key or cert,key:name,name`)
  const names = colon < 0 ? [] : text.slice(colon + 1).split(',')
  const invalid = names.find((name) => !/^(\*\.)?[a-z0-9-]+(\.[a-z0-9-]+)*$/i.test(name))
  if (invalid !== undefined) throw new Error(`${JSON.stringify(invalid)} is neither a host name nor a pattern such as *.example.com`)
  return { files: { certFile: resolve(certFile), keyFile: resolve(keyFile) }, names: names.map((name) => name.toLowerCase()) }
}

function readHostname(name: string | undefined): string | undefined {
  if (name === undefined || /^[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63})*$/i.test(name)) return name?.toLowerCase()
  throw flagError('external-hostname', `${JSON.stringify(name)} is not a host name`)
}

function readDirectives(directives: readonly string[]): string | undefined {
  const invalid = directives.find((directive) => !/^(max-age=\d+|includeSubDomains|preload)$/.test(directive))
  if (invalid !== undefined)
    throw flagError(
      'strict-transport-security-directives',
      `${JSON.stringify(invalid)} is unknown; choose from max-age=<seconds>, includeSubDomains, preload`,
    )
  if (directives.length > 0 && !directives.some((directive) => directive.startsWith('max-age=')))
    throw flagError('strict-transport-security-directives', 'needs max-age=<seconds>: browsers ignore the other directives without it')
  return directives.length === 0 ? undefined : directives.join('; ')
}

function readPortSharing(isEnabled: boolean): boolean {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (isEnabled && (major < 23 || (major === 23 && minor < 1)))
    throw flagError('permit-port-sharing', `needs Node.js 23.1 or newer; this is ${process.versions.node}`)
  return isEnabled
}

export function readNetwork(values: FlagValues) {
  const ranges = values['service-cluster-ip-range']
  if (ranges.length < 1 || ranges.length > 2)
    throw flagError('service-cluster-ip-range', 'one range is required, or two of different IP families')
  const families = ranges.map(familyOf)
  if (families[0] === families[1]) throw flagError('service-cluster-ip-range', 'both ranges have the same IP family')
  return { serviceRanges: ranges, nodePorts: readPorts(values['service-node-port-range']) }
}

function familyOf(range: string): number {
  const [address = '', bits = '', ...rest] = range.split('/')
  const family = isIP(address)
  const isRange = family !== 0 && /^\d+$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128) && rest.length === 0
  if (!isRange) throw flagError('service-cluster-ip-range', `${JSON.stringify(range)} is not a range such as 10.0.0.0/24`)
  if ((family === 4 ? 32 : 128) - Number(bits) < minHostBits)
    throw flagError('service-cluster-ip-range', `${JSON.stringify(range)} has fewer than ${2 ** minHostBits} addresses`)
  return family
}

/** Host bits of the smallest service range, as in kube-apiserver. */
const minHostBits = 3

/** Parses `30000-32767`, or `30000+2767` (first port, and its distance to the last port). */
function readPorts(text: string) {
  const [, first = '', sign = '', second = ''] = /^(\d+)([-+])(\d+)$/.exec(text) ?? []
  const last = sign === '+' ? Number(first) + Number(second) : Number(second)
  if (sign === '' || Number(first) < 1 || last > 65535 || last < Number(first)) {
    throw flagError('service-node-port-range', `${JSON.stringify(text)} is not a port range such as 30000-32767`)
  }
  return { first: Number(first), last }
}

export function readKubelets(input: SettingsInput) {
  const { values, files } = input
  const caFile = values['kubelet-certificate-authority']
  return {
    ca: caFile === undefined ? undefined : files.get(caFile),
    clientFiles: readPair(input, 'kubelet-client-certificate', 'kubelet-client-key')?.files,
    addressTypes: values['kubelet-preferred-address-types'],
    connectMs: values['kubelet-timeout'],
    bytesPerSecond: values['max-connection-bytes-per-sec'] || undefined,
  }
}

export function readAggregation(input: SettingsInput) {
  const { values } = input
  return {
    toEndpoints: values['enable-aggregator-routing'],
    rejectsRedirects: values['aggregator-reject-forwarding-redirect'],
    clientFiles: readPair(input, 'proxy-client-cert-file', 'proxy-client-key-file')?.files,
  }
}
