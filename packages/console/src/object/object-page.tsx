// The page of one object: live, with tabs. Keeps the versions that it saw, until another page is opened.

import type { Json } from '@cluster-apiserver/api/api/object.js'
import type { DynamicObject, ServedResource } from '@cluster-apiserver/client/browser.js'
import { useState } from 'preact/hooks'
import { ObjectActions } from '../change/object-actions.js'
import { useSession } from '../session/session-context.js'
import { ErrorPanel } from '../shell/error-panel.js'
import { Guarded } from '../shell/guarded.js'
import { listRoute, objectRoute } from '../shell/route.js'
import { useTask } from '../ui/hooks.js'
import { type ObjectContext, type ObjectTab, type ObjectVersion, withoutVersion } from './object-context.js'
import { objectTabs } from './object-tabs.js'
import { lineText, yamlLines } from './yaml-lines.js'

interface ObjectPageProps {
  readonly resource: ServedResource
  readonly namespace: string | undefined
  readonly name: string
  /** Id of the tab; the first one if there is no such tab. */
  readonly tab: string
}

type Seen = Pick<ObjectContext, 'object' | 'versions' | 'isDeleted'>

const maxVersions = 50
const maxVersionLines = 200_000

export function ObjectPage({ resource, namespace, name, tab }: ObjectPageProps) {
  const session = useSession()
  const [seen, setSeen] = useState<Seen>()
  const [lost, setLost] = useState<unknown>()
  const error = useTask(async (signal) => {
    const collection = session.client.collection<DynamicObject>(resource, namespace)
    const take = (object: DynamicObject, isDeleted: boolean): void => {
      setLost(undefined)
      setSeen((before) => ({ object, isDeleted, versions: withVersion(before?.versions ?? [], object, isDeleted) }))
    }
    // A read first: its errors, such as 404, end the page, and only some kinds can be watched.
    take(await collection.get(name, { signal }), false)
    if (!resource.verbs.includes('watch')) return
    const options = { fieldSelector: { 'metadata.name': name }, signal, onError: setLost, bookmarks: true }
    for await (const { type, object } of collection.watch(options)) {
      if (type === 'BOOKMARK') setLost(undefined)
      else take(object as DynamicObject, type === 'DELETED')
    }
  }, [])

  const tabs = objectTabs.filter(({ isOffered }) => isOffered?.(resource) ?? true)
  const shown = tabs.find(({ id }) => id === tab) ?? (tabs[0] as ObjectTab)
  const context: ObjectContext | undefined = seen && { resource, namespace, name, ...seen }
  const [state, stateText] = stateOf(seen, { error, lost })
  return (
    <>
      <header class="page-head">
        <h1>
          <a href={listRoute(resource, { namespace })}>{resource.kind}</a>{' '}
          {namespace !== undefined && <span class="namespace">{namespace} / </span>}
          {name}
        </h1>
        <div class="status">
          <span class={`state ${state}`}>{stateText}</span>
          {context && !context.isDeleted && <ObjectActions {...context} />}
        </div>
      </header>
      <div class="tabs" role="tablist">
        {tabs.map(({ id, title }) => (
          <a
            key={id}
            role="tab"
            id={`tab-${id}`}
            href={objectRoute(resource, namespace, name, id)}
            aria-selected={id === shown.id}
            aria-controls="tab-body"
          >
            {title}
          </a>
        ))}
      </div>
      {error !== undefined && <ErrorPanel error={error} title="The object cannot be read" />}
      {error === undefined && lost !== undefined && <ErrorPanel error={lost} title="The connection is lost; trying again" />}
      <div class="tab-body" id="tab-body" role="tabpanel" aria-labelledby={`tab-${shown.id}`}>
        {context && (
          <Guarded key={shown.id}>
            <shown.Tab {...context} />
          </Guarded>
        )}
      </div>
    </>
  )
}

function stateOf(
  seen: Seen | undefined,
  { error, lost }: { readonly error: unknown; readonly lost: unknown },
): readonly [name: string, text: string] {
  if (error !== undefined) return ['failed', 'stopped']
  if (lost !== undefined) return ['reconnecting', 'reconnecting']
  if (seen === undefined) return ['loading', 'loading']
  return seen.isDeleted ? ['failed', 'deleted'] : ['live', 'live']
}

function withVersion(before: readonly ObjectVersion[], object: DynamicObject, isDeleted: boolean): readonly ObjectVersion[] {
  const resourceVersion = object.metadata?.resourceVersion ?? ''
  // The watch begins with the version that was read.
  if (before.at(-1)?.resourceVersion === resourceVersion && !isDeleted) return before
  const text = isDeleted ? [] : yamlLines(withoutVersion(object) as unknown as Json).map(lineText)
  const versions = [...before, { atMs: Date.now(), resourceVersion, isDeleted, text }]
  while (versions.length > maxVersions || (versions.length > 2 && totalLines(versions) > maxVersionLines)) versions.shift()
  return versions
}

const totalLines = (versions: readonly ObjectVersion[]): number => versions.reduce((sum, { text }) => sum + text.length, 0)
