// RuntimeClass: handler, overhead and scheduling.

import { defineResource, type RuleContext } from '../../api/definition/resource-definition.js'
import { duplicate, type FieldError } from '../../api/field-error.js'
import { checkEach, checkOptional, checkText, checkUnchanged, dnsSubdomainProblems, joined, noErrors } from '../../api/validation/checks.js'
import { validateLabels } from '../../api/validation/metadata/labels.js'
import { dnsLabel } from '../../api/validation/name-formats.js'
import { deprecatedNodeLabels, warningFor } from '../core/node/node-selector.js'
import { validateRequirements } from '../core/pod-spec/resource-requirements.js'
import { validateTolerations } from '../core/pod-spec/scheduling.js'
import type { Toleration } from '../core/v1.schema.js'
import { ageColumn, nameColumn, tableOf, textColumn } from '../printer-columns.js'
import { type RuntimeClass, type Scheduling, runtimeClass as schema } from './v1.schema.js'

const validate = ({ handler = '', overhead, scheduling }: RuntimeClass, rules: RuleContext): readonly FieldError[] =>
  joined(
    checkText(handler, 'handler', dnsLabel),
    checkOptional(overhead?.podFixed, 'overhead', (limits, at) => validateRequirements({ limits }, at, { rules, claims: [] })),
    checkOptional(scheduling, 'scheduling', validateScheduling),
  )

function validateScheduling({ nodeSelector, tolerations = [] }: Scheduling, field: string): readonly FieldError[] {
  const seen = new Set<string>()
  return joined(
    validateLabels(nodeSelector, `${field}.nodeSelector`),
    // The path is doubled in kube-apiserver, too.
    validateTolerations(tolerations, `${field}.tolerations.tolerations`),
    checkEach(tolerations, `${field}.tolerations`, (toleration, at) => {
      const id = tolerationKey(toleration)
      const isDuplicate = seen.has(id)
      seen.add(id)
      return isDuplicate ? [duplicate(at, toleration)] : noErrors
    }),
  )
}

/** Tolerations with equal key, operator, value and effect are duplicates. */
const tolerationKey = ({ key = '', operator = '', value = '', effect = '' }: Toleration): string =>
  JSON.stringify([key, operator, value, effect])

export const runtimeClass = defineResource<RuntimeClass>({
  group: { stem: 'node' },
  kind: 'RuntimeClass',
  resource: 'runtimeclasses',
  namespaced: false,
  versions: [{ name: 'v1', schema, stored: true }],
  nameProblems: dnsSubdomainProblems,
  validate,
  validateUpdate: (next, old) => checkUnchanged(next.handler ?? '', old.handler ?? '', 'handler'),
  anyFinalizer: true,
  checks: { update: ['metadata', 'validate', 'metadataChange', 'validateUpdate'] },
  warnings: ({ scheduling }, _, { identity }) =>
    Object.keys(scheduling?.nodeSelector ?? {}).flatMap((key) =>
      warningFor(deprecatedNodeLabels(identity).get(key), (message) => `scheduling.nodeSelector: ${message}`),
    ),
  createOnUpdate: true,
  versionRequiredOnUpdate: true,
  table: tableOf<RuntimeClass>(
    nameColumn,
    textColumn('Handler', 'Name of the runtime handler on nodes.', ({ handler }) => handler ?? ''),
    ageColumn,
  ),
})
