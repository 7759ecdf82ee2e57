// Sends changes of objects, each with an undo for a minute.

import { errorMessage } from '@cluster-apiserver/api/base/error-message.js'
import {
  type ApiObject,
  type Collection,
  type DynamicObject,
  isClientError,
  type PropagationPolicy,
  StatusError,
} from '@cluster-apiserver/client/browser.js'
import type { Problem } from '../editor/problem-lines.js'
import { lineOfField, readFieldPath, scanYaml } from '../editor/scan-yaml.js'
import { showNotice } from '../shell/notices.js'
import { fieldManager, type Patch, patchBetween } from './object-changes.js'

interface Change {
  readonly collection: Collection
  /** The object that the patch is for; a newer version is a conflict. */
  readonly before: DynamicObject
  readonly patch: Patch
  /** Such as `scaled`. */
  readonly done: string
}

export async function sendPatch({ collection, before, patch, done }: Change): Promise<DynamicObject> {
  const after = await patchAt(collection, before, patch, false)
  offerUndo({ collection, before, after, done })
  return after
}

export function patchAt(collection: Collection, before: DynamicObject, patch: Patch, dryRun: boolean): Promise<DynamicObject> {
  const metadata = { ...(patch['metadata'] as object | undefined), resourceVersion: before.metadata?.resourceVersion }
  return collection.patch(before.metadata?.name ?? '', { ...patch, metadata }, { fieldManager, fieldValidation: 'Strict', dryRun })
}

function offerUndo({
  collection,
  before,
  after,
  done,
}: {
  readonly collection: Collection
  readonly before: DynamicObject
  readonly after: DynamicObject
  readonly done: string
}): void {
  const name = `${after.kind ?? ''} ${after.metadata?.name ?? ''}`
  const reverse = patchBetween(withoutHead(after), withoutHead(before))
  if (reverse === undefined) {
    showNotice(`${name}: nothing changed`)
    return
  }
  showNotice(`${name} ${done}`, {
    label: 'Undo',
    run: () => {
      patchAt(collection, after, reverse, false).then(
        () => showNotice(`${name}: undone`),
        (thrown: unknown) => showNotice(`${name} cannot be undone: ${errorMessage(thrown)}`),
      )
    },
  })
}

/** Status and metadata of the server, which are no part of a change. */
function withoutHead({ metadata, status: _, ...rest }: DynamicObject): DynamicObject {
  const { labels, annotations, finalizers, ownerReferences } = metadata ?? {}
  return { ...rest, metadata: { labels, annotations, finalizers, ownerReferences } } as DynamicObject
}

interface Deletion {
  readonly collection: Collection
  readonly object: DynamicObject
  readonly propagationPolicy: PropagationPolicy
}

/** The undo creates the object again: with a new uid, and without the dependents that were deleted with it. */
export async function sendDelete({ collection, object, propagationPolicy }: Deletion): Promise<void> {
  const { name = '', uid, finalizers = [] } = object.metadata ?? {}
  await collection.delete(name, { propagationPolicy, ...(uid === undefined ? {} : { preconditions: { uid } }) })
  const title = `${object.kind ?? ''} ${name}`
  if (finalizers.length > 0) {
    showNotice(`${title} is being deleted; its finalizers come first`)
    return
  }
  showNotice(`${title} deleted`, {
    label: 'Create again',
    run: () => {
      collection.create(recreated(object), { fieldManager }).then(
        () => showNotice(`${title} created again`),
        (thrown: unknown) => showNotice(`${title} cannot be created again: ${errorMessage(thrown)}`),
      )
    },
  })
}

function recreated({ metadata, status: _, ...rest }: DynamicObject): DynamicObject {
  const { name, namespace, labels, annotations, ownerReferences } = metadata ?? {}
  const kept: ApiObject['metadata'] = {
    ...(name === undefined ? {} : { name }),
    ...(namespace === undefined ? {} : { namespace }),
    ...(labels === undefined ? {} : { labels }),
    ...(annotations === undefined ? {} : { annotations }),
    ...(ownerReferences === undefined ? {} : { ownerReferences }),
  }
  return { ...rest, metadata: kept } as DynamicObject
}

/** The lines of a YAML text that an error of the server or of the YAML reader is about; empty if it names none. */
export function problemsOf(thrown: unknown, text: string): readonly Problem[] {
  const lines = scanYaml(text)
  const at = (field: string, message: string): Problem[] => {
    const line = lineOfField(lines, readFieldPath(field))
    return line === undefined ? [] : [{ line, message }]
  }
  if (thrown instanceof StatusError) {
    const unknown = [...thrown.message.matchAll(/unknown field "([^"]{1,500})"/g)].map(([message, field = '']) => ({ field, message }))
    const causes = thrown.causes.map(({ field = '', message = '' }) => ({ field, message }))
    return [...causes, ...unknown].flatMap(({ field, message }) => at(field, message))
  }
  if (isClientError(thrown)) return []
  const line = /\bline (\d+):/.exec(errorMessage(thrown))?.[1]
  return line === undefined ? [] : [{ line: Math.max(0, Number(line) - 1), message: errorMessage(thrown) }]
}
