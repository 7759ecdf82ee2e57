// The page that creates an object: a first text from the required fields of the schema, an example, or any YAML.

import { readYaml } from '@cluster-apiserver/api/codec/yaml/read-yaml.js'
import { apiVersionOf, type DynamicObject, type ServedResource } from '@cluster-apiserver/client/browser.js'
import { button, element, replaceChildren } from '../dom/element.js'
import { diffView } from '../object/diff-view.js'
import { lineText, yamlLines } from '../object/yaml-lines.js'
import type { Session } from '../session/session.js'
import { errorPanel } from '../shell/legacy.js'
import { showNotice } from '../shell/notices.js'
import { objectRoute } from '../shell/route.js'
import { yamlText } from './edit-tab.js'
import type { KindSchema } from './kind-schema.js'
import { fieldManager } from './object-changes.js'
import { SchemaPanel } from './schema-panel.js'
import { messageOf, problemsOf } from './send-change.js'
import { YamlEditor } from './yaml-editor.js'

interface CreatePage {
  readonly session: Session
  readonly resource: ServedResource
  readonly namespace: string
  readonly signal: AbortSignal
}

export function showCreate(host: HTMLElement, { session, resource, namespace, signal }: CreatePage): void {
  const result = element('div', { class: 'edit-result', role: 'status' })
  const panel = new SchemaPanel({ session, resource, signal }, (schema) => {
    editor.schema = schema
    if (schema !== undefined && editor.text === yamlText(first)) editor.text = yamlText(firstObject(resource, namespace, schema))
  })
  const editor = new YamlEditor({
    label: `New ${resource.kind} as YAML`,
    onField: (path) => panel.show(path),
    onChange: () => undefined,
  })
  replaceChildren(
    host,
    element('header', { class: 'page-head' }, element('h1', {}, `New ${resource.kind}`)),
    element(
      'div',
      { class: 'tools' },
      button('Preview', () => void send(true)),
      button('Create', () => void send(false), { class: 'primary' }),
    ),
    result,
    element('div', { class: 'edit-columns' }, editor.root, panel.root),
  )
  const first = firstObject(resource, namespace, undefined)
  editor.text = yamlText(first)
  editor.focus()

  async function send(dryRun: boolean): Promise<void> {
    editor.setProblems([])
    try {
      const object = readYaml(editor.text).value as unknown as DynamicObject
      const target = resource.namespaced ? (object?.metadata?.namespace ?? namespace) : undefined
      const collection = session.client.collection<DynamicObject>(resource, target === '' ? 'default' : target)
      const created = await collection.create(object, { dryRun, fieldManager, fieldValidation: 'Strict' })
      if (!dryRun) {
        const { name = '', namespace: inside } = created.metadata ?? {}
        showNotice(`${resource.kind} ${name} created`, {
          label: 'Undo',
          run: () => {
            collection.delete(name, { preconditions: { uid: created.metadata?.uid ?? '' } }).then(
              () => showNotice(`${resource.kind} ${name} deleted again`),
              (thrown: unknown) => showNotice(`${resource.kind} ${name} cannot be deleted: ${messageOf(thrown)}`),
            )
          },
        })
        location.hash = objectRoute(resource, inside, name)
        return
      }
      const { managedFields: _, ...metadata } = created.metadata ?? {}
      const after = yamlLines({ ...created, metadata } as never).map(lineText)
      replaceChildren(
        result,
        element('h2', {}, 'Preview'),
        diffView(yamlLines(object as never).map(lineText), after, 'What the server adds'),
      )
    } catch (thrown) {
      editor.setProblems(problemsOf(thrown, editor.scan()))
      replaceChildren(result, errorPanel(thrown, dryRun ? 'The server would refuse the object' : 'The server refused the object'))
    }
  }
}

/** Required fields with empty values, and a name to replace. */
function firstObject(resource: ServedResource, namespace: string, schema: KindSchema | undefined): DynamicObject {
  const { group, version, kind, namespaced } = resource
  const required = schema?.skeleton()
  const spec = schema?.membersAt([]).some(({ name }) => name === 'spec') ? { spec: schema.skeleton(['spec']) } : {}
  return {
    ...(typeof required === 'object' ? required : {}),
    apiVersion: apiVersionOf(group, version),
    kind,
    metadata: { name: 'new', ...(namespaced ? { namespace: namespace === '' ? 'default' : namespace } : {}) },
    ...spec,
  } as DynamicObject
}
