// The rules of probes and lifecycle hooks: each has one way to ask or act, and sensible numbers.

import { type FieldError, forbidden, invalid, required } from '../../../api/field-error.js'
import { checkEach, checkOptionalChoice, checkPart, checkPresent, joined } from '../../../api/validation/collect.js'
import { checkNotNegative, checkText, noErrors } from '../../../api/validation/fields.js'
import { checkPortOrName } from '../../../api/validation/port-name.js'
import type { Container, HTTPGetAction, Lifecycle, Probe, ProbeHandler } from '../v1.schema.js'
import { headerName } from './names.js'

const schemes = ['HTTP', 'HTTPS']

const actions = {
  exec: ({ command }: NonNullable<ProbeHandler['exec']>, field: string) =>
    (command ?? []).length === 0 ? [required(`${field}.command`)] : noErrors,
  httpGet: validateHttpGet,
  tcpSocket: ({ port = 0 }: NonNullable<ProbeHandler['tcpSocket']>, field: string) => checkPortOrName(port, `${field}.port`),
  grpc: ({ port = 0 }: NonNullable<ProbeHandler['grpc']>, field: string) => checkPortOrName(port, `${field}.port`),
}

function validateHttpGet({ path, port = 0, scheme = '', httpHeaders }: HTTPGetAction, field: string): readonly FieldError[] {
  return joined(
    checkPresent(path, `${field}.path`),
    checkPortOrName(port, `${field}.port`),
    checkOptionalChoice(scheme, `${field}.scheme`, schemes),
    checkEach(httpHeaders, field, ({ name = '' }) => checkText(name, `${field}.httpHeaders`, headerName)),
  )
}

const actionNames = ['exec', 'httpGet', 'tcpSocket', 'grpc'] as const

/** The first action counts; every further one is refused unread. */
function validateAction(handler: ProbeHandler, field: string): readonly FieldError[] {
  let errors = noErrors
  let hasOne = false
  for (const name of actionNames) {
    const action = handler[name]
    if (action === undefined) continue
    const found = hasOne
      ? [forbidden(`${field}.${name}`, 'may not specify more than 1 handler type')]
      : (actions[name] as (action: unknown, field: string) => readonly FieldError[])(action, `${field}.${name}`)
    hasOne = true
    errors = joined(errors, found)
  }
  return hasOne ? errors : [required(field, 'must specify a handler type')]
}

const probeNumbers = ['initialDelaySeconds', 'timeoutSeconds', 'periodSeconds', 'successThreshold', 'failureThreshold'] as const

function validateProbe(probe: Probe, field: string): readonly FieldError[] {
  let errors = validateAction(probe, field)
  for (const name of probeNumbers)
    if ((probe[name] ?? 0) < 0) errors = joined(errors, checkNotNegative(probe[name] ?? 0, `${field}.${name}`))
  const { terminationGracePeriodSeconds: grace } = probe
  if (grace === undefined || grace > 0) return errors
  return [...errors, invalid(`${field}.terminationGracePeriodSeconds`, grace, 'must be greater than 0')]
}

/** A container that lives or has started once does so: two successes in a row would mean nothing. */
const validateOnceProbe = (probe: Probe, field: string): readonly FieldError[] =>
  joined(
    validateProbe(probe, field),
    probe.successThreshold === 1 ? noErrors : [invalid(`${field}.successThreshold`, probe.successThreshold ?? 0, 'must be 1')],
  )

/** A container that is not ready is not stopped, so that it needs no time to stop. */
const validateReadiness = (probe: Probe, field: string): readonly FieldError[] =>
  joined(
    validateProbe(probe, field),
    probe.terminationGracePeriodSeconds === undefined
      ? noErrors
      : [invalid(`${field}.terminationGracePeriodSeconds`, probe.terminationGracePeriodSeconds, 'must not be set for readinessProbes')],
  )

export const validateProbes = (container: Container, field: string): readonly FieldError[] =>
  joined(
    checkPart(container.lifecycle, `${field}.lifecycle`, validateLifecycle),
    checkPart(container.livenessProbe, `${field}.livenessProbe`, validateOnceProbe),
    checkPart(container.readinessProbe, `${field}.readinessProbe`, validateReadiness),
    checkPart(container.startupProbe, `${field}.startupProbe`, validateOnceProbe),
  )

const validateLifecycle = ({ postStart, preStop }: Lifecycle, field: string): readonly FieldError[] =>
  joined(checkPart(postStart, `${field}.postStart`, validateAction), checkPart(preStop, `${field}.preStop`, validateAction))
