// ClusterCIDR: pod CIDR ranges for nodes, with an immutable spec.

import { defineResource } from '../../api/definition/resource-definition.js'
import { type FieldError, invalid, required } from '../../api/field-error.js'
import { checkOptional, checkUnchanged, dnsLabelProblems, joined, noErrors } from '../../api/validation/checks.js'
import { parseCidr } from '../../api/validation/network/cidr.js'
import { validateNodeSelector } from '../core/node/node-selector.js'
import type { NodeSelectorRequirement } from '../core/v1.schema.js'
import { ageColumn, nameColumn, tableOf, textColumn } from '../printer-columns.js'
import { type ClusterCIDR, type ClusterCIDRSpec, clusterCIDR as schema } from './v1alpha1.schema.js'

const minHostBits = 4
const widths = { IPv4: 32, IPv6: 128 } as const

function validate({ spec = {} }: ClusterCIDR): readonly FieldError[] {
  const { ipv4 = '', ipv6 = '', nodeSelector } = spec
  return joined(
    checkOptional(nodeSelector, 'spec.nodeSelector', validateNodeSelector),
    ipv4 === '' && ipv6 === '' ? [required('spec', 'one or both of `ipv4` and `ipv6` must be specified')] : noErrors,
    ipv4 === '' ? noErrors : validateRange(spec, ipv4, 'IPv4'),
    ipv6 === '' ? noErrors : validateRange(spec, ipv6, 'IPv6'),
  )
}

/** The CIDR must be of the family; perNodeHostBits must be at least minHostBits and fit into the CIDR. */
function validateRange({ perNodeHostBits = 0 }: ClusterCIDRSpec, text: string, family: 'IPv4' | 'IPv6'): readonly FieldError[] {
  const range = parseCidr(text)
  const bitsField = 'spec.perNodeHostBits'
  if (range === undefined) return [invalid(`spec.${family}`, text, `must be a valid CIDR: ${text}`)]
  const maxHostBits = widths[family] - range.bits
  return joined(
    range.family === family ? noErrors : [invalid(`spec.${family}`, text, `must be a valid ${family} CIDR`)],
    perNodeHostBits < minHostBits ? [invalid(bitsField, perNodeHostBits, `must be greater than or equal to ${minHostBits}`)] : noErrors,
    perNodeHostBits > maxHostBits ? [invalid(bitsField, perNodeHostBits, `must be less than or equal to ${maxHostBits}`)] : noErrors,
  )
}

const validateUpdate = ({ spec: next = {} }: ClusterCIDR, { spec: old = {} }: ClusterCIDR): readonly FieldError[] =>
  joined(
    checkUnchanged(next.nodeSelector, old.nodeSelector, 'spec.nodeSelector'),
    checkUnchanged(next.perNodeHostBits ?? 0, old.perNodeHostBits ?? 0, 'spec.perNodeHostBits'),
    checkUnchanged(next.ipv4 ?? '', old.ipv4 ?? '', 'spec.ipv4'),
    checkUnchanged(next.ipv6 ?? '', old.ipv6 ?? '', 'spec.ipv6'),
  )

const describeRequirements = (requirements: readonly NodeSelectorRequirement[]): string =>
  `[${requirements.map(({ key = '', operator = '', values = [] }) => `{${key} ${operator} [${values.join(' ')}]}`).join(' ')}]`

function describeNodes({ spec }: ClusterCIDR): string {
  if (spec?.nodeSelector === undefined) return '<none>'
  const terms = (spec.nodeSelector.nodeSelectorTerms ?? []).flatMap(({ matchExpressions = [], matchFields = [] }) => [
    ...(matchExpressions.length === 0 ? [] : [`MatchExpressions: ${describeRequirements(matchExpressions)}`]),
    ...(matchFields.length === 0 ? [] : [`MatchFields: ${describeRequirements(matchFields)}`]),
  ])
  return terms.join(',')
}

export const clusterCidr = defineResource<ClusterCIDR>({
  group: { stem: 'networking' },
  kind: 'ClusterCIDR',
  resource: 'clustercidrs',
  shortNames: ['cc'],
  namespaced: false,
  versions: [{ name: 'v1alpha1', schema, stored: true }],
  nameProblems: dnsLabelProblems,
  validate,
  validateUpdate,
  checks: { update: ['metadata', 'validate', 'metadataChange', 'validateUpdate'] },
  table: tableOf<ClusterCIDR>(
    nameColumn,
    textColumn('PerNodeHostBits', 'Host bits of the pod CIDR of each node.', (object) => String(object.spec?.perNodeHostBits ?? 0)),
    textColumn('IPv4', 'Range of IPv4 addresses.', (object) => object.spec?.ipv4 || '<none>'),
    textColumn('IPv6', 'Range of IPv6 addresses.', (object) => object.spec?.ipv6 || '<none>'),
    ageColumn,
    textColumn('NodeSelector', 'Nodes of the range.', (object) => describeNodes(object), 1),
  ),
})
