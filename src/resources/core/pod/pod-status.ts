// The status of a pod, which its node reports: the rules of its change, and the two fields for its addresses that say the same.

import type { RuleContext } from '../../../api/definition.js'
import { duplicate, type FieldError, forbidden, invalid, unknowable } from '../../../api/field-error.js'
import { checkEach, joined } from '../../../api/validation/collect.js'
import { checkText, noErrors } from '../../../api/validation/fields.js'
import { ipAddress, isIpv4, parseIp } from '../../../api/validation/ip.js'
import { dnsSubdomain, qualifiedName } from '../../../api/validation/text-rules.js'
import { validateAnnotationUpdate } from '../pod-spec/annotations.js'
import type { ContainerStatus, Pod, PodIP, PodStatus } from '../v1.schema.js'

/** Old nodes report one address; where both fields are there and differ, the older one counts. */
export function withAddresses(status: PodStatus): PodStatus {
  const { podIP, podIPs } = status
  if (podIP === podIPs?.[0]?.ip) return status
  if (podIP === undefined) return podIPs?.[0]?.ip === undefined ? status : { ...status, podIP: podIPs[0].ip }
  return { ...status, podIPs: [{ ip: podIP }] }
}

const ownConditions = ['PodScheduled', 'Ready', 'Initialized']

export function validatePodStatus(next: Pod, old: Pod, context: RuleContext): readonly FieldError[] {
  const { status = {} } = next
  const before = old.status ?? {}
  const restartPolicy = old.spec?.restartPolicy ?? ''
  const nominated = status.nominatedNodeName ?? ''
  return joined(
    validateAnnotationUpdate(next, old, context),
    // Reported under metadata, as it always has been.
    checkEach(status.conditions, 'metadata.conditions', ({ type = '' }, at) =>
      ownConditions.includes(type) ? noErrors : checkText(type, `${at}.Type`, qualifiedName),
    ),
    nominated === '' || nominated === before.nominatedNodeName ? noErrors : checkText(nominated, 'status.nominatedNodeName', dnsSubdomain),
    validateEnded(status, before, { list: 'containerStatuses', restartPolicy }),
    validateEnded(status, before, { list: 'initContainerStatuses', restartPolicy }),
    validateEnded(status, before, { list: 'ephemeralContainerStatuses', restartPolicy: 'Never' }),
    validateAddresses(status.podIPs ?? []),
  )
}

interface EndedList {
  readonly list: 'containerStatuses' | 'initContainerStatuses' | 'ephemeralContainerStatuses'
  readonly restartPolicy: string
}

/** A container that has ended, and is not to be started again, does not come back. */
function validateEnded(next: PodStatus, old: PodStatus, { list, restartPolicy }: EndedList): readonly FieldError[] {
  if (restartPolicy === 'Always' || old[list] === undefined) return noErrors
  const isAlive = (name: string | undefined): boolean =>
    (next[list] ?? []).some((status) => status.name === name && status.state?.terminated === undefined)
  const mayReturn = ({ state }: ContainerStatus): boolean =>
    state?.terminated === undefined || ((state.terminated.exitCode ?? 0) !== 0 && restartPolicy === 'OnFailure')
  return checkEach(old[list], `status.${list}`, (status, at) =>
    mayReturn(status) || !isAlive(status.name) ? noErrors : [forbidden(`${at}.state`, 'may not be transitioned to non-terminated state')],
  )
}

function validateAddresses(addresses: readonly PodIP[]): readonly FieldError[] {
  const field = 'status.podIPs'
  const wrong = checkEach(addresses, field, ({ ip = '' }, at) => checkText(ip, at, ipAddress))
  if (addresses.length < 2) return wrong
  const parsed = addresses.map(({ ip = '' }) => parseIp(ip))
  const firstWrong = parsed.indexOf(undefined)
  const families = new Set(parsed.map((ip) => ip !== undefined && isIpv4(ip)))
  const isDualStack = firstWrong < 0 && families.size === 2
  const seen = new Set<string>()
  return joined(
    wrong,
    firstWrong < 0
      ? noErrors
      : [unknowable(field, `failed to check for dual stack with error:invalid IP[${firstWrong}]: ${addresses[firstWrong]?.ip ?? ''}`)],
    isDualStack && addresses.length === 2 ? noErrors : [invalid(field, addresses, 'may specify no more than one IP for each IP family')],
    checkEach(addresses, field, ({ ip = '' }, at) => {
      if (seen.has(ip)) return [duplicate(at, { ip })]
      seen.add(ip)
      return noErrors
    }),
  )
}
