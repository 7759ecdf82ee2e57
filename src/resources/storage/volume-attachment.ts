// Attachments: the wish that a volume be attached to a node, and whether it is.

import { defineResource, type RuleContext } from '../../api/definition.js'
import { ageOf } from '../../api/human-duration.js'
import { withMetadata } from '../../api/object.js'
import { ageColumn, nameColumn, textColumn } from '../../api/table-columns.js'
import { joined } from '../../api/validation/collect.js'
import { dnsSubdomainProblems } from '../../api/validation/name-problems.js'
import { withoutGatedSecret } from '../core/persistent-volume.js'
import { withVolumeSpecDefaults } from '../core/persistent-volume-defaults.js'
import { withChanged } from '../core/pod-spec/missing-members.js'
import { volumeAttachment as schema, type VolumeAttachment } from './v1.schema.js'
import { validateAttachment, validateAttachmentChange, validateNewAttachment } from './volume-attachment-rules.js'

const defaults = (attachment: VolumeAttachment): VolumeAttachment =>
  withChanged(attachment, 'spec', (spec) =>
    withChanged(spec, 'source', (source) => withChanged(source, 'inlineVolumeSpec', withVolumeSpecDefaults)),
  )

const withoutGatedFields = (attachment: VolumeAttachment, context: RuleContext): VolumeAttachment =>
  withChanged(attachment, 'spec', (spec) =>
    withChanged(spec, 'source', (source) =>
      withChanged(source, 'inlineVolumeSpec', (inline) => withoutGatedSecret(inline, undefined, context)),
    ),
  )

/** Who reports what became of an attachment changes nothing else. */
function prepareStatus(next: VolumeAttachment, old: VolumeAttachment): VolumeAttachment {
  const { labels, annotations, finalizers, ownerReferences } = old.metadata ?? {}
  return { ...withMetadata(next, { labels, annotations, finalizers, ownerReferences }), spec: old.spec ?? {} }
}

export const volumeAttachment = defineResource<VolumeAttachment>({
  group: { stem: 'storage' },
  kind: 'VolumeAttachment',
  resource: 'volumeattachments',
  namespaced: false,
  versions: [{ name: 'v1', schema, stored: true }],
  nameProblems: dnsSubdomainProblems,
  defaults,
  prepareCreate: (attachment, context) => ({ ...withoutGatedFields(attachment, context), status: { attached: false } }),
  prepareUpdate: (next, old) => ({ ...next, status: old.status ?? { attached: false } }),
  validate: validateNewAttachment,
  // The change is checked together with the whole once more, and what that finds is said twice.
  validateUpdate: (next, old, context) => {
    const errors = validateAttachment(next, context)
    return joined(errors, errors, validateAttachmentChange(next, old))
  },
  checks: { update: ['metadata', 'metadata', 'ownChange'] },
  versionRequiredOnUpdate: true,
  deleteReturnsObject: true,
  resetFields: ['status'],
  subresources: [
    {
      name: 'status',
      verbs: ['get', 'patch', 'update'],
      prepareUpdate: prepareStatus,
      validateUpdate: (next, _old, context) => validateAttachment(next, context),
      resetFields: ['metadata', 'spec'],
    },
  ],
  table: {
    columns: [
      nameColumn,
      { name: 'Attacher', type: 'string', format: 'name', description: 'Who attaches the volume.' },
      textColumn('PV', 'The volume.'),
      textColumn('Node', 'The node.'),
      { name: 'Attached', type: 'boolean', description: 'Whether the volume is attached.' },
      ageColumn,
    ],
    cells: ({ metadata, spec, status }, { now }) => [
      metadata?.name ?? '',
      spec?.attacher ?? '',
      spec?.source?.persistentVolumeName ?? '',
      spec?.nodeName ?? '',
      status?.attached ?? false,
      ageOf(metadata?.creationTimestamp, now),
    ],
  },
})
