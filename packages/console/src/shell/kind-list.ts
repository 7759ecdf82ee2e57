// The list of all kinds by group, with a filter. Custom kinds appear and disappear with their definitions.

import { compareText } from '@cluster-apiserver/api/base/text-order.js'
import type { ServedResource } from '@cluster-apiserver/client/browser.js'
import { element, replaceChildren } from '../dom/element.js'
import type { Session } from '../session/session.js'
import { listRoute } from './route.js'

export class KindList {
  readonly root: HTMLElement
  readonly filter: HTMLInputElement
  private readonly session: Session
  private readonly groups = element('div')
  private current: ServedResource | undefined
  private namespace = ''

  constructor(session: Session) {
    this.session = session
    this.filter = element('input', { type: 'search', id: 'kind-filter', placeholder: 'Kinds  g', 'aria-label': 'Search in the kinds' })
    this.filter.addEventListener('input', () => this.draw())
    this.filter.addEventListener('keydown', ({ key }) => {
      const first = this.groups.querySelector('a')
      if (key === 'Enter' && first !== null) first.click()
    })
    this.root = element('nav', { class: 'kinds', id: 'kinds', 'aria-label': 'Kinds' }, this.filter, this.groups)
    session.onKinds(() => this.draw())
    this.draw()
  }

  select(resource: ServedResource | undefined, namespace: string): void {
    this.current = resource
    this.namespace = namespace
    this.draw()
  }

  private draw(): void {
    const groups = groupKinds(this.session.listable, this.filter.value)
    replaceChildren(
      this.groups,
      ...groups.map(([group, kinds]) =>
        element(
          'section',
          {},
          element('h2', {}, group === '' ? 'core' : group),
          element('ul', {}, ...kinds.map((resource) => element('li', {}, this.link(resource)))),
        ),
      ),
      groups.length === 0 && element('p', { class: 'empty' }, 'No kind matches.'),
    )
  }

  private link(resource: ServedResource): HTMLElement {
    const isCurrent = this.current?.group === resource.group && this.current.resource === resource.resource
    return element(
      'a',
      {
        href: listRoute(resource, { namespace: resource.namespaced ? this.namespace : '' }),
        'aria-current': isCurrent ? 'page' : undefined,
      },
      resource.kind,
    )
  }
}

export function groupKinds(
  resources: readonly ServedResource[],
  filter: string,
): readonly (readonly [group: string, kinds: readonly ServedResource[]])[] {
  const word = filter.trim().toLowerCase()
  const groups = new Map<string, ServedResource[]>()
  for (const resource of resources) {
    const names = [resource.kind, resource.resource, resource.group, ...resource.shortNames]
    if (!names.some((name) => name.toLowerCase().includes(word))) continue
    const kinds = groups.get(resource.group)
    if (kinds === undefined) groups.set(resource.group, [resource])
    else kinds.push(resource)
  }
  return [...groups]
    .map(([group, kinds]) => [group, kinds.sort((a, b) => compareText(a.kind, b.kind))] as const)
    .sort(([a], [b]) => rankOf(a) - rankOf(b) || compareText(a, b))
}

/** Core kinds and workloads first. */
const rankOf = (group: string): number => (group === '' ? 0 : group === 'apps' ? 1 : group === 'batch' ? 2 : 3)
