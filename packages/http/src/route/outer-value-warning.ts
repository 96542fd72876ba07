/**
 * Warns once that the responses of a route are not stored because its handler puts what a layer outside has
 * set into a text of its own.
 */
export class OuterValueWarning {
  #given = false

  /** `field`: the name of the field. `target`: the URL of the request. */
  give(field: string, target: string): void {
    if (this.#given) return
    this.#given = true
    const [path] = target.split('?')
    process.emitWarning(
      `The handler of ${path} puts what a layer outside the cache has set as ${field} into a value of its own. What is the handler's cannot be told ` +
        `apart: the response is its own client's, and is not stored. Set the whole of ${field} outside the cache, or the whole of it in the handler; ` +
        `or append a line of its own (res.append('${field}', value)); or keep the field out of what is stored: strip: ['${field}'].`,
      { type: 'CattlegridWarning', code: 'CATTLEGRID_OUTER_VALUE' },
    )
  }
}
