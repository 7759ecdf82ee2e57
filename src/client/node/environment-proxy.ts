// The proxy that the environment names for a server, as most programs understand it.

type Environment = { readonly [name: string]: string | undefined }

/** Undefined where the server is reached without one. */
export function environmentProxy(server: string, environment: Environment = process.env): string | undefined {
  const { protocol, hostname, port } = new URL(server.includes('://') ? server : `http://${server}`)
  const name = protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY'
  const proxy = environment[name] || environment[name.toLowerCase()] || ''
  if (
    proxy === '' ||
    isExcluded({ host: hostname.replace(/^\[|\]$/g, ''), port: port || (protocol === 'https:' ? '443' : '80') }, environment)
  )
    return undefined
  return proxy.includes('://') ? proxy : `http://${proxy}`
}

function isExcluded({ host, port }: { readonly host: string; readonly port: string }, environment: Environment): boolean {
  if (host === 'localhost' || host === '::1' || /^127\./.test(host)) return true
  const list = environment['NO_PROXY'] || environment['no_proxy'] || ''
  return list
    .split(',')
    .map((item) => item.trim().toLowerCase())
    .filter((item) => item !== '')
    .some((item) => {
      if (item === '*') return true
      const [, name = item, itemPort] = /^(.*?):(\d+)$/.exec(item) ?? []
      if (itemPort !== undefined && itemPort !== port) return false
      if (name.includes('/')) return isInRange(host, name)
      const suffix = name.replace(/^\*?\.?/, '.')
      return host === suffix.slice(1) || host.endsWith(suffix)
    })
}

/** IPv4 ranges such as `10.0.0.0/8`. */
function isInRange(host: string, range: string): boolean {
  const [base = '', bits = ''] = range.split('/', 2)
  const [address, start] = [numberOf(host), numberOf(base)]
  if (address === undefined || start === undefined || !/^\d+$/.test(bits)) return false
  const size = 2 ** (32 - Math.min(32, Number(bits)))
  return Math.floor(address / size) === Math.floor(start / size)
}

function numberOf(address: string): number | undefined {
  const parts = address.split('.').map(Number)
  if (parts.length !== 4 || parts.some((part) => !(part >= 0 && part <= 255))) return undefined
  return parts.reduce((sum, part) => sum * 256 + part, 0)
}
