// The frame of all pages: header, list of kinds, and the page of the current address. Handles the keyboard shortcuts.

import type { ServedResource } from '@cluster-apiserver/client/browser.js'
import { showCreate } from '../change/create-page.js'
import { button, element, replaceChildren, visibleText } from '../dom/element.js'
import { showObject } from '../object/object-page.js'
import type { Session } from '../session/session.js'
import { showTable } from '../table/table-page.js'
import { showHome } from './home.js'
import { KindList } from './kind-list.js'
import { Namespaces } from './namespaces.js'
import { clearNotices } from './notices.js'
import { pages } from './pages.js'
import { findResource, type Route, readRoute, routeTo } from './route.js'

interface ShellSettings {
  readonly session: Session
  readonly onSignOut: () => void
}

export class Shell {
  private readonly session: Session
  private readonly main = element('main', { id: 'main', tabindex: -1 })
  private readonly kinds: KindList
  private readonly namespaces: Namespaces
  private readonly controller = new AbortController()
  private page = new AbortController()
  private readonly root: HTMLElement
  private readonly links = new Map<string, HTMLElement>()

  constructor(host: HTMLElement, { session, onSignOut }: ShellSettings) {
    this.session = session
    this.kinds = new KindList(session)
    const { signal } = this.controller
    this.namespaces = new Namespaces(session, signal)
    const menu = button('Kinds', () => this.toggleKinds(), { class: 'menu', 'aria-controls': 'kinds', 'aria-expanded': 'false' })
    for (const { id, title } of pages) this.links.set(id, element('a', { href: routeTo([id]) }, title))
    this.root = element(
      'div',
      { class: 'shell' },
      element('a', { class: 'skip', href: '#main', on: { click: (event) => this.skip(event) } }, 'Skip to the content'),
      element(
        'header',
        { class: 'top' },
        menu,
        element('a', { class: 'brand', href: routeTo([]) }, 'Console'),
        element('nav', { class: 'pages', 'aria-label': 'Pages' }, ...this.links.values()),
        element('span', { class: 'user', title: 'Authenticated user' }, session.user),
        button('Sign out', onSignOut),
      ),
      this.kinds.root,
      this.main,
    )
    replaceChildren(host, this.root)
    window.addEventListener('hashchange', () => this.show(), { signal })
    document.addEventListener('keydown', (event) => this.onKey(event), { signal })
    session.onKinds(() => {
      // A page of a kind that did not exist a moment ago.
      if (this.main.dataset['missing'] === 'true') this.show()
    })
    this.show()
  }

  close(): void {
    this.page.abort()
    this.controller.abort()
    this.root.remove()
    clearNotices()
  }

  private show(): void {
    const route = readRoute(location.hash)
    this.page.abort()
    this.page = new AbortController()
    const { signal } = this.page
    const resource = findResource(this.session.resources, route.path.slice(1))
    const [id = ''] = route.path
    const isOfResource = id === 'list' || id === 'object' || id === 'create'
    this.kinds.select(isOfResource ? resource : undefined, route.query.get('namespace') ?? '')
    this.root.classList.remove('shows-kinds')
    // An empty value means that it is not the current page.
    for (const [name, link] of this.links)
      if (name === id) link.setAttribute('aria-current', 'page')
      else link.removeAttribute('aria-current')
    this.main.dataset['missing'] = String(isOfResource && resource === undefined)
    document.title = visibleText(`${titleOf(route, resource)} · Console`)
    void this.showPage({ route, resource, signal })
  }

  private async showPage({
    route,
    resource,
    signal,
  }: {
    readonly route: Route
    readonly resource: ServedResource | undefined
    readonly signal: AbortSignal
  }): Promise<void> {
    const { session, main } = this
    const [id = '', , , , fourth, fifth = ''] = route.path
    // Pages may leave their elements in place until they have something to show.
    const host = element('div', { class: 'page' })
    replaceChildren(main, host)
    const page = pages.find((each) => each.id === id)
    if (page !== undefined) page.show(host, { session, route, signal })
    else if (id === 'list' || id === 'object' || id === 'create') {
      if (resource === undefined) {
        replaceChildren(host, element('p', { class: 'empty' }, `The server does not serve ${route.path.slice(1, 4).join('/')}.`))
        return
      }
      if (id === 'create') {
        showCreate(host, { session, resource, namespace: route.query.get('namespace') ?? '', signal })
        return
      }
      if (id === 'object') {
        const namespace = fourth === '-' ? undefined : fourth
        showObject(host, { session, resource, namespace, name: fifth, tab: route.query.get('tab') ?? '', signal })
        return
      }
      const namespaces = resource.namespaced ? await this.namespaces.names() : []
      if (!signal.aborted) showTable(host, { session, resource, query: route.query, namespaces, signal })
    } else showHome(host, session)
  }

  private toggleKinds(): void {
    const isShown = this.root.classList.toggle('shows-kinds')
    if (isShown) this.kinds.filter.focus()
  }

  private skip(event: MouseEvent): void {
    event.preventDefault()
    this.main.focus()
  }

  private onKey(event: KeyboardEvent): void {
    const { key, target } = event
    const isTyping = target instanceof HTMLElement && (target.isContentEditable || /^(?:input|textarea|select)$/i.test(target.tagName))
    if (key === 'Escape' && isTyping) {
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
      this.root.classList.add('shows-kinds')
      this.kinds.filter.focus()
      this.kinds.filter.select()
    }
  }
}

function titleOf({ path }: Route, resource: ServedResource | undefined): string {
  const [id = '', , , , , name] = path
  return name !== undefined && id === 'object'
    ? `${resource?.kind ?? ''} ${name}`
    : (resource?.kind ?? pages.find((each) => each.id === id)?.title ?? 'Kinds')
}
