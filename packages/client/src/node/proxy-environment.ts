// Proxy of a server according to HTTPS_PROXY, HTTP_PROXY and NO_PROXY, also in lower case; none for loopback addresses.

import { BlockList, isIP, isIPv4 } from 'node:net'
import { isProxyProtocol } from '../config/choose-connection.js'
import { ConfigError } from '../errors.js'

type Environment = { readonly [name: string]: string | undefined }

export function environmentProxy(server: string, environment: Environment = process.env): string | undefined {
  const { protocol, hostname, port } = new URL(server.includes('://') ? server : `http://${server}`)
  const name = protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY'
  const proxy = environment[name] || environment[name.toLowerCase()] || ''
  if (
    proxy === '' ||
    isExcluded({ host: hostname.replace(/^\[|\]$/g, ''), port: port || (protocol === 'https:' ? '443' : '80') }, environment)
  )
    return undefined
  const url = proxy.includes('://') ? proxy : `http://${proxy}`
  if (URL.canParse(url) && isProxyProtocol(new URL(url).protocol)) return url
  throw new ConfigError(`${name} ${JSON.stringify(proxy)} is not a URL with http://, https:// or socks5://`)
}

interface Target {
  readonly host: string
  readonly port: string
}

function isExcluded(target: Target, environment: Environment): boolean {
  const { host } = target
  if (host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'))) return true
  const list = environment['NO_PROXY'] || environment['no_proxy'] || ''
  return list
    .split(',')
    .map((item) => item.trim().toLowerCase())
    .some((item) => item !== '' && matches(item, target))
}

/** Item of NO_PROXY: `*`, CIDR, or IP address or host name with an optional port. `.example.com` matches subdomains only. */
function matches(item: string, { host, port }: Target): boolean {
  if (item === '*') return true
  if (item.includes('/')) return isInRange(host, item)
  const [, name = item, itemPort] = isIP(item) === 0 ? (/^(\[.*\]|[^:]*):(\d+)$/.exec(item) ?? []) : []
  if (name === '' || (itemPort !== undefined && itemPort !== port)) return false
  const address = name.replace(/^\[(.*)\]$/, '$1')
  if (isIP(address) !== 0) return isInRange(host, `${address}/${isIPv4(address) ? 32 : 128}`)
  const suffix = name.replace(/^\*\./, '.')
  return suffix.startsWith('.') ? host.endsWith(suffix) : host === suffix || host.endsWith(`.${suffix}`)
}

function isInRange(host: string, range: string): boolean {
  const [base = '', bits = ''] = range.split('/', 2)
  const family = isIPv4(base) ? 'ipv4' : 'ipv6'
  if (isIP(host) === 0 || isIP(base) === 0 || !/^\d{1,3}$/.test(bits) || Number(bits) > (family === 'ipv4' ? 32 : 128)) return false
  const block = new BlockList()
  block.addSubnet(base, Number(bits), family)
  return block.check(host, isIPv4(host) ? 'ipv4' : 'ipv6')
}
