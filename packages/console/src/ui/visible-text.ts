// Shows hidden characters in all texts of the page: they could make a text look like another one.

import { options, type VNode } from 'preact'

/** Control characters, and characters that reorder or hide text. */
const hidden =
  /[\0-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb]/
const hiddenAll = new RegExp(hidden.source, 'g')

/** With escapes in place of hidden characters, such as `\u202e`. */
export const visibleText = (text: string): string =>
  hidden.test(text) ? text.replaceAll(hiddenAll, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`) : text

/** Text up to the limit, with its length if it is longer. */
export const shortened = (text: string, limit: number): string =>
  text.length <= limit ? text : `${text.slice(0, limit)}… (${text.length.toLocaleString('en')} characters)`

/** Attributes that are shown or read aloud. Others, such as `value`, stay as they are. */
const shownAttributes = ['title', 'aria-label', 'placeholder']

/** Every text and shown attribute that Preact renders from now on has no hidden characters. */
export function showHiddenCharacters(): void {
  options.vnode = (node: VNode | { type: null; props: unknown }) => {
    if (node.type === null) {
      if (typeof node.props === 'string') node.props = visibleText(node.props)
    } else if (typeof node.type === 'string') {
      const props = node.props as { [name: string]: unknown }
      for (const name of shownAttributes) {
        const value = props[name]
        if (typeof value === 'string') props[name] = visibleText(value)
      }
    }
  }
}
