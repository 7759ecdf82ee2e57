// The tab with the object as YAML.

import type { Json } from '@cluster-apiserver/api/api/object.js'
import { writeYaml } from '@cluster-apiserver/api/codec/yaml/write-yaml.js'
import { button, element, replaceChildren } from '../dom/element.js'
import { noteOf, ownersOf } from '../understand/field-notes.js'
import { type ObjectContext, type ObjectTab, withoutManagedFields } from './object-context.js'
import { yamlLines } from './yaml-lines.js'
import { YamlView } from './yaml-view.js'

export const yamlTab: ObjectTab = {
  id: 'yaml',
  title: 'YAML',
  show: (host, context) => {
    let now = context
    let owners = ownersOf(context.object)
    let showsManagers = true
    const view = new YamlView({ noteOf: (path) => (showsManagers ? noteOf(owners, path) : undefined) })
    const managers = button(
      'Managers',
      () => {
        showsManagers = !showsManagers
        managers.setAttribute('aria-pressed', String(showsManagers))
        draw(now)
      },
      { 'aria-pressed': 'true', title: 'The manager of each field; its operation and time are in the tooltip' },
    )
    const copy = button('Copy', () => {
      navigator.clipboard.writeText(writeYaml(asJson(now))).then(
        () => {
          copy.textContent = 'Copied'
        },
        () => {
          copy.textContent = 'The browser refused to copy'
        },
      )
    })
    replaceChildren(
      host,
      element(
        'div',
        { class: 'tools' },
        button('Fold', () => view.foldAll(2)),
        button('Unfold', () => view.unfoldAll()),
        copy,
        managers,
      ),
      view.root,
    )
    const draw = (next: ObjectContext): void => {
      now = next
      owners = ownersOf(next.object)
      view.setLines(yamlLines(asJson(next)))
    }
    draw(context)
    return draw
  },
}

const asJson = ({ object }: ObjectContext): Json => withoutManagedFields(object) as unknown as Json
