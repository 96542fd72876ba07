// Its types are older than this compiler; what is used of it is the same.
declare module 'express4' {
  export { default } from 'express'
}
