// Where a balancer in front of a service or an ingress listens, as whoever implements it reports.

import { type FieldError, invalid } from '../../api/field-error.js'
import { checkEach, joined } from '../../api/validation/collect.js'
import { checkText, noErrors } from '../../api/validation/fields.js'
import { parseIp } from '../../api/validation/ip.js'
import { dnsSubdomain } from '../../api/validation/text-rules.js'
import { sortTexts } from '../../base/text-order.js'

interface Door {
  readonly ip?: string
  readonly hostname?: string
}

export const validateBalancerStatus = (doors: readonly Door[] | undefined, field: string): readonly FieldError[] =>
  checkEach(doors, `${field}.ingress`, ({ ip = '', hostname = '' }, at) =>
    joined(
      ip === '' || parseIp(ip) !== undefined ? noErrors : [invalid(`${at}.ip`, ip, 'must be a valid IP address')],
      hostname === '' ? noErrors : checkText(hostname, `${at}.hostname`, dnsSubdomain),
      hostname === '' || parseIp(hostname) === undefined
        ? noErrors
        : [invalid(`${at}.hostname`, hostname, 'must be a DNS name, not an IP address')],
    ),
  )

/** Each address once and in order. */
export const describeBalancer = (doors: readonly Door[] = []): readonly string[] =>
  sortTexts([...new Set(doors.map(({ ip = '', hostname = '' }) => ip || hostname))].filter((address) => address !== ''))
