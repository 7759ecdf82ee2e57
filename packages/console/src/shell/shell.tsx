// The frame of all pages: header, list of kinds, and the page of the current address. Handles the keyboard shortcuts.

import type { ServedResource } from '@cluster-apiserver/client/browser.js'
import { useEffect, useRef, useState } from 'preact/hooks'
import { CreatePage } from '../create/create-page.js'
import { ObjectPage } from '../object/object-page.js'
import { useSession } from '../session/session-context.js'
import { TablePage } from '../table/table-page.js'
import { useSubscription } from '../ui/hooks.js'
import { visibleText } from '../ui/visible-text.js'
import { Guarded } from './guarded.js'
import { Home } from './home.js'
import { KindList } from './kind-list.js'
import { focusNotice, Notices } from './notices.js'
import { pages } from './pages.js'
import { findResource, type Route, routeTo } from './route.js'
import { useRoute } from './use-route.js'

export function Shell({ onSignOut }: { readonly onSignOut: () => void }) {
  const session = useSession()
  // A page of a kind that did not exist a moment ago appears.
  useSubscription((listener) => session.onKinds(listener), [session])
  const route = useRoute()
  const [showsKinds, setShowsKinds] = useState(false)
  const filter = useRef<HTMLInputElement>(null)
  const main = useRef<HTMLElement>(null)
  const [id = ''] = route.path
  const resource = isOfResource(id) ? findResource(session.resources, route.path.slice(1)) : undefined
  const address = location.hash
  useEffect(() => setShowsKinds(false), [address])
  useEffect(() => {
    document.title = visibleText(`${titleOf(route, resource)} · Console`)
  })
  useShortcuts(() => {
    setShowsKinds(true)
    // The input is visible from the next frame on.
    requestAnimationFrame(() => filter.current?.select())
  })
  return (
    <div class={showsKinds ? 'shell shows-kinds' : 'shell'}>
      <button type="button" class="skip" onClick={() => main.current?.focus()}>
        Skip to the content
      </button>
      <header class="top">
        <button type="button" class="menu" aria-controls="kinds" aria-expanded={showsKinds} onClick={() => setShowsKinds(!showsKinds)}>
          Kinds
        </button>
        <a class="brand" href={routeTo([])}>
          Console
        </a>
        <nav class="pages" aria-label="Pages">
          {pages.map((page) => (
            <a key={page.id} href={routeTo([page.id])} aria-current={page.id === id ? 'page' : undefined}>
              {page.title}
            </a>
          ))}
        </nav>
        <span class="user" title="Authenticated user">
          {session.user}
        </span>
        <button type="button" onClick={onSignOut}>
          Sign out
        </button>
      </header>
      <KindList current={resource} namespace={route.query.get('namespace') ?? ''} filterRef={filter} />
      <main id="main" tabIndex={-1} ref={main}>
        <div class="page">
          <Guarded key={id === 'object' ? address.split('?')[0] : address}>
            <PageOf route={route} resource={resource} />
          </Guarded>
        </div>
      </main>
      <Notices />
    </div>
  )
}

const isOfResource = (id: string): boolean => id === 'list' || id === 'object' || id === 'create'

function PageOf({ route, resource }: { readonly route: Route; readonly resource: ServedResource | undefined }) {
  const [id = '', , , , fourth, name = ''] = route.path
  const { query } = route
  const page = pages.find((each) => each.id === id)
  if (page !== undefined) return <page.Page route={route} />
  if (!isOfResource(id)) return <Home />
  if (resource === undefined) return <p class="empty">The server does not serve {route.path.slice(1, 4).join('/')}.</p>
  if (id === 'create') return <CreatePage resource={resource} namespace={query.get('namespace') ?? ''} />
  if (id === 'list') return <TablePage resource={resource} query={query} />
  return <ObjectPage resource={resource} namespace={fourth === '-' ? undefined : fourth} name={name} tab={query.get('tab') ?? ''} />
}

function useShortcuts(showKinds: () => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const { key, defaultPrevented } = event
      // The target of an event in a shadow root, such as that of the editor, is its host.
      const [target] = event.composedPath()
      const isTyping = target instanceof HTMLElement && (target.isContentEditable || /^(?:input|textarea|select)$/i.test(target.tagName))
      if (key === 'Escape' && isTyping && !defaultPrevented) {
        target.blur()
        return
      }
      if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return
      const search = document.querySelector<HTMLInputElement>('#search')
      if (key === '/' && search !== null) {
        event.preventDefault()
        search.focus()
      } else if (key === 'g') {
        event.preventDefault()
        showKinds()
      } else if (key === 'u') focusNotice()
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [])
}

function titleOf({ path }: Route, resource: ServedResource | undefined): string {
  const [id = '', , , , , name] = path
  return name !== undefined && id === 'object'
    ? `${resource?.kind ?? ''} ${name}`
    : (resource?.kind ?? pages.find((each) => each.id === id)?.title ?? 'Kinds')
}
