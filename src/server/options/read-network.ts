// The ranges that services draw from: addresses and node ports.

import { isIP } from 'node:net'
import { flagError } from './flag.js'
import type { FlagValues } from './flag-table.js'
import type { NetworkSettings } from './settings.js'

export function readNetwork(values: FlagValues): NetworkSettings {
  const ranges = values['service-cluster-ip-range']
  if (ranges.length < 1 || ranges.length > 2)
    throw flagError('service-cluster-ip-range', 'one range is needed, or two of different families')
  const families = ranges.map(familyOf)
  if (families[0] === families[1]) throw flagError('service-cluster-ip-range', 'both ranges are of the same family')
  return { serviceRanges: ranges, nodePorts: readPorts(values['service-node-port-range']) }
}

/** 4 or 6. */
function familyOf(range: string): number {
  const [address = '', bits = '', ...rest] = range.split('/')
  const family = isIP(address)
  const isRange = family !== 0 && /^\d+$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128) && rest.length === 0
  if (!isRange) throw flagError('service-cluster-ip-range', `${JSON.stringify(range)} is not a range such as 10.0.0.0/24`)
  if ((family === 4 ? 32 : 128) - Number(bits) < fewestBits)
    throw flagError('service-cluster-ip-range', `${JSON.stringify(range)} has less than ${2 ** fewestBits} addresses`)
  return family
}

/** What a range leaves to addresses, as in the reference: the API's own service has one of them, and others want some, too. */
const fewestBits = 3

/** `30000-32767`, or `30000+2767` for a first port and how many follow it. */
function readPorts(text: string): NetworkSettings['nodePorts'] {
  const [, first = '', sign = '', second = ''] = /^(\d+)([-+])(\d+)$/.exec(text) ?? []
  const last = sign === '+' ? Number(first) + Number(second) : Number(second)
  if (sign === '' || Number(first) < 1 || last > 65535 || last < Number(first)) {
    throw flagError('service-node-port-range', `${JSON.stringify(text)} is not a range of ports such as 30000-32767`)
  }
  return { first: Number(first), last }
}
