// The page of one object: live, with tabs. Keeps the versions that it saw.

import type { Json } from '@cluster-apiserver/api/api/object.js'
import { type DynamicObject, isClientError, type ServedResource } from '@cluster-apiserver/client/browser.js'
import { showActions } from '../change/object-actions.js'
import { element, replaceChildren } from '../dom/element.js'
import type { Session } from '../session/session.js'
import { errorPanel } from '../shell/legacy.js'
import { listRoute, objectRoute } from '../shell/route.js'
import { type ObjectContext, type ObjectTab, type ObjectVersion, withoutVersion } from './object-context.js'
import { objectTabs } from './object-tabs.js'
import { lineText, yamlLines } from './yaml-lines.js'

interface ObjectPage {
  readonly session: Session
  readonly resource: ServedResource
  readonly namespace: string | undefined
  readonly name: string
  readonly tab: string
  readonly signal: AbortSignal
}

const maxVersions = 50
const maxVersionLines = 200_000

export function showObject(host: HTMLElement, page: ObjectPage): void {
  const { session, resource, namespace, name, signal } = page
  const tabs = objectTabs.filter(({ isOffered }) => isOffered?.({ resource }) ?? true)
  const tab = tabs.find(({ id }) => id === page.tab) ?? (tabs[0] as ObjectTab)
  const state = element('span', { class: 'state loading' }, 'loading')
  const body = element('div', { class: 'tab-body', id: 'tab-body', role: 'tabpanel', 'aria-labelledby': `tab-${tab.id}` })
  const problem = element('div')
  const actions = element('div', { class: 'actions' })
  let current: ObjectContext | undefined
  replaceChildren(
    host,
    element(
      'header',
      { class: 'page-head' },
      element(
        'h1',
        {},
        element('a', { href: listRoute(resource, { namespace }) }, resource.kind),
        ' ',
        namespace !== undefined && element('span', { class: 'namespace' }, `${namespace} / `),
        name,
      ),
      element('div', { class: 'status' }, state, actions),
    ),
    element(
      'div',
      { class: 'tabs', role: 'tablist' },
      ...tabs.map(({ id, title }) =>
        element(
          'a',
          {
            role: 'tab',
            id: `tab-${id}`,
            href: objectRoute(resource, namespace, name, id),
            'aria-selected': String(id === tab.id),
            'aria-controls': 'tab-body',
          },
          title,
        ),
      ),
    ),
    problem,
    body,
  )
  const versions = versionsOf(page)
  let redraw: ((context: ObjectContext) => void) | undefined
  let hasShown = false

  const take = (object: DynamicObject, isDeleted: boolean): void => {
    const text = yamlLines(withoutVersion(object) as unknown as Json).map(lineText)
    const resourceVersion = object.metadata?.resourceVersion ?? ''
    if (versions.at(-1)?.resourceVersion !== resourceVersion || isDeleted) {
      versions.push({ atMs: Date.now(), resourceVersion, isDeleted, text: isDeleted ? [] : text })
      while (versions.length > maxVersions || (versions.length > 2 && totalLines(versions) > maxVersionLines)) versions.shift()
    }
    state.className = isDeleted ? 'state failed' : 'state live'
    state.textContent = isDeleted ? 'deleted' : 'live'
    const context: ObjectContext = { session, resource, namespace, name, object, versions, isDeleted, signal }
    current = context
    if (hasShown) redraw?.(context)
    else {
      redraw = tab.show(body, context)
      showActions(actions, () => current ?? context)
    }
    actions.hidden = isDeleted
    hasShown = true
  }
  void follow()

  async function follow(): Promise<void> {
    const collection = session.client.collection<DynamicObject>(resource, namespace)
    try {
      // A read first: its errors, such as 404, end the page, and only some kinds can be watched.
      take(await collection.get(name, { signal }), false)
      if (!resource.verbs.includes('watch')) return
      const onError = (thrown: unknown): void => {
        state.className = 'state reconnecting'
        state.textContent = 'reconnecting'
        replaceChildren(problem, errorPanel(thrown, 'The connection is lost; trying again'))
      }
      for await (const { type, object } of collection.watch({
        fieldSelector: { 'metadata.name': name },
        signal,
        onError,
        bookmarks: true,
      })) {
        replaceChildren(problem)
        if (type !== 'BOOKMARK') take(object as DynamicObject, type === 'DELETED')
      }
    } catch (thrown) {
      if (signal.aborted) return
      state.className = 'state failed'
      state.textContent = isClientError(thrown) ? 'stopped' : 'failed'
      replaceChildren(problem, errorPanel(thrown, 'The object cannot be read'))
    }
  }
}

const totalLines = (versions: readonly ObjectVersion[]): number => versions.reduce((sum, { text }) => sum + text.length, 0)

/** Versions stay while the user changes between tabs of the same object, and end with the session: the next user may not see them. */
let lastObject: { readonly session: Session; readonly key: string; readonly versions: ObjectVersion[] } | undefined

function versionsOf({ session, resource, namespace, name }: ObjectPage): ObjectVersion[] {
  const key = objectRoute(resource, namespace, name)
  if (lastObject?.key !== key || lastObject.session !== session) lastObject = { session, key, versions: [] }
  return lastObject.versions
}
